/*
 * picture.c: pictures of a report, as SVG within the page.
 *
 * All are 320 units wide, so that they need not shrink on a telephone.
 */
#include "postgres.h"

#include <math.h>

#include "report/page.h"
#include "report/picture.h"

#define WIDTH 320

/* How many points a description lists. */
#define DESCRIBED 16

/* Where numbers are drawn: x from x0 to x1, y from y0 (below) to y1. */
typedef struct Frame
{
	double		left;
	double		top;
	double		width;
	double		height;
	double		x0;
	double		x1;
	double		y0;
	double		y1;
} Frame;

/* Where a number is between two others, 0 to 1; halves do not overflow. */
static double
share_between(double number, double low, double high)
{
	double		share = (number / 2 - low / 2) / (high / 2 - low / 2);

	return share >= 0 ? Min(share, 1) : 0;	/* 0 also if there is no distance */
}

/* The place of an x. */
static double
across(const Frame *frame, double x)
{
	return frame->left + frame->width * share_between(x, frame->x0, frame->x1);
}

/* The place of a y. */
static double
down(const Frame *frame, double y)
{
	return frame->top + frame->height * (1 - share_between(y, frame->y0, frame->y1));
}

/* A round number that is large enough. */
double
dperm_picture_limit(double number)
{
	static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
	double		power;

	if (!(number > 1e-300))
		return 1;
	if (number > 1e300)
		return 1e308;
	power = pow(10, floor(log10(number)));
	for (int i = 0; i < (int) lengthof(steps); i++)
		if (number <= steps[i] * power)
			return steps[i] * power;
	return 10 * power;
}

/* Begin a picture; its description follows. */
static void
begin_picture(StringInfo page, double height, const char *kind, const char *name)
{
	dperm_page_put(page, "<figure><svg role=\"img\" aria-label=\"%s", kind);
	dperm_page_text(page, name, DPERM_PAGE_NAME);
	dperm_page_put(page, "\" viewBox=\"0 0 %d %.0f\" xmlns=\"http://www.w3.org/2000/svg\">\n"
				   "<title>%s", WIDTH, height, kind);
	dperm_page_text(page, name, DPERM_PAGE_NAME);
	dperm_page_put(page, "</title>\n<desc>");
}

/* A line between two places. */
static void
put_line(StringInfo page, const char *class, double x0, double y0, double x1, double y1)
{
	dperm_page_put(page, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
				   class, x0, y0, x1, y1);
}

/* A label; the anchor is start, middle or end. */
static void
put_label(StringInfo page, double x, double y, const char *anchor, const char *text, int most)
{
	dperm_page_put(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	dperm_page_text(page, text, most);
	dperm_page_put(page, "</text>\n");
}

/* What a picture is of. */
static void
put_name(StringInfo page, const char *name)
{
	dperm_page_put(page, "<text class=\"name\" x=\"2\" y=\"12\">");
	dperm_page_text(page, name, 44);
	dperm_page_put(page, "</text>\n");
}

/* The label of a y, and a line across. */
static void
put_level(StringInfo page, const Frame *frame, double y, const char *text)
{
	put_line(page, "axis", frame->left, down(frame, y), frame->left + frame->width, down(frame, y));
	put_label(page, frame->left - 4, down(frame, y) + 4, "end", text, 12);
}

/* The labels of both ends of x. */
static void
put_ends(StringInfo page, const Frame *frame, const char *from, const char *to)
{
	double		below = frame->top + frame->height + 15;

	put_label(page, frame->left, below, "start", from, 16);
	put_label(page, frame->left + frame->width, below, "end", to, 16);
}

/* The points of a polyline. */
static void
put_points(StringInfo page, const Frame *frame, const DpermPoint *points, int count)
{
	dperm_page_put(page, "<polyline class=\"line\" points=\"");
	for (int i = 0; i < count; i++)
		dperm_page_put(page, "%s%.1f,%.1f", i > 0 ? " " : "", across(frame, points[i].x),
					   down(frame, points[i].y));
	dperm_page_put(page, "\"/>\n");
}

/* The band of the noise: its upper edge, and back along the lower one. */
static void
put_band(StringInfo page, const Frame *frame, const DpermPoint *points, int count)
{
	dperm_page_put(page, "<polygon class=\"band\" points=\"");
	for (int i = 0; i < count; i++)
		dperm_page_put(page, "%.1f,%.1f ", across(frame, points[i].x),
					   down(frame, points[i].y + points[i].noise));
	for (int i = count - 1; i >= 0; i--)
		dperm_page_put(page, "%.1f,%.1f%s", across(frame, points[i].x),
					   down(frame, points[i].y - points[i].noise), i > 0 ? " " : "");
	dperm_page_put(page, "\"/>\n");
}

/* A curve. */
void
dperm_picture_curve(StringInfo page, const char *name, const DpermPoint *points, int count,
					double limit, const char *const labels[3])
{
	Frame		frame = {44, 22, 264, 130, points[0].x, points[count - 1].x, -limit, limit};

	begin_picture(page, 176, "Curve of ", name);
	for (int i = 0; i < Min(count, DESCRIBED); i++)
		dperm_page_put(page, "%sat %.4g: %.3g", i > 0 ? "; " : "", points[i].x, points[i].y);
	dperm_page_put(page, ". Standard deviation of the noise: up to %.3g.</desc>\n",
				   points[0].noise);
	put_name(page, name);
	put_level(page, &frame, limit, psprintf("%.3g", limit));
	put_level(page, &frame, 0, "0");
	put_level(page, &frame, -limit, psprintf("%.3g", -limit));
	put_band(page, &frame, points, count);
	put_points(page, &frame, points, count);
	for (int i = 0; i < count; i++)
		dperm_page_put(page, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n",
					   across(&frame, points[i].x), down(&frame, points[i].y));
	put_ends(page, &frame, labels[0], labels[2]);
	put_label(page, frame.left + frame.width / 2, frame.top + frame.height + 15, "middle",
			  labels[1], 16);
	dperm_page_put(page, "</svg></figure>\n");
}

/* One bar, with a line for its noise. */
static void
put_bar(StringInfo page, const Frame *frame, const DpermBar *bar, double top)
{
	double		zero = across(frame, 0);
	double		end = across(frame, bar->value);

	put_label(page, frame->left - 6, top + 10, "end", bar->name, 14);
	dperm_page_put(page, "<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				   "height=\"10\"/>\n", Min(zero, end), top + 1, fabs(end - zero));
	if (bar->noise > 0)
	{
		double		from = across(frame, bar->value - bar->noise);
		double		to = across(frame, bar->value + bar->noise);

		put_line(page, "halo", from, top + 6, to, top + 6);
		put_line(page, "noise", from, top + 6, to, top + 6);
	}
}

/* Bars. */
void
dperm_picture_bars(StringInfo page, const char *name, const DpermBar *bars, int count,
				   double limit)
{
	double		height = 15.0 * count;
	Frame		frame = {112, 22, 200, height, -limit, limit, 0, 1};

	begin_picture(page, height + 46, "Bars of ", name);
	for (int i = 0; i < Min(count, DESCRIBED); i++)
	{
		dperm_page_put(page, "%s", i > 0 ? "; " : "");
		dperm_page_text(page, bars[i].name, DPERM_PAGE_NAME);
		dperm_page_put(page, ": %.3g", bars[i].value);
		if (bars[i].noise > 0)
			dperm_page_put(page, ", noise %.3g", bars[i].noise);
	}
	dperm_page_put(page, ".</desc>\n");
	put_name(page, name);
	put_line(page, "axis", across(&frame, 0), frame.top, across(&frame, 0), frame.top + height + 2);
	for (int i = 0; i < count; i++)
		put_bar(page, &frame, &bars[i], frame.top + 15.0 * i);
	put_ends(page, &frame, psprintf("%.3g", -limit), psprintf("%.3g", limit));
	put_label(page, across(&frame, 0), frame.top + height + 15, "middle", "0", 1);
	dperm_page_put(page, "</svg></figure>\n");
}

/* A ROC curve and the line of guesses. */
void
dperm_picture_roc(StringInfo page, const DpermPoint *points, int count)
{
	Frame		frame = {40, 10, 262, 262, 0, 1, 0, 1};

	begin_picture(page, 310, "", "ROC curve");
	dperm_page_put(page, "True positive rate by false positive rate. ");
	for (int i = 0; i < count; i += Max(1, count / DESCRIBED))
		dperm_page_put(page, "%.2f at %.2f; ", points[i].y, points[i].x);
	dperm_page_put(page, "the dashed line is guessing.</desc>\n");
	for (int i = 0; i <= 2; i++)
		put_level(page, &frame, i / 2.0, i == 0 ? "0" : i == 1 ? "0.5" : "1");
	put_line(page, "limit", across(&frame, 0), down(&frame, 0), across(&frame, 1),
			 down(&frame, 1));
	put_points(page, &frame, points, count);
	put_ends(page, &frame, "0", "1");
	put_label(page, frame.left + frame.width / 2, 302, "middle", "false positive rate", 40);
	dperm_page_put(page, "<text x=\"10\" y=\"141\" text-anchor=\"middle\" "
				   "transform=\"rotate(-90 10 141)\">true positive rate</text>\n");
	dperm_page_put(page, "</svg></figure>\n");
}

/* What was spent, as steps. */
void
dperm_picture_sum(StringInfo page, const DpermPoint *points, int count, double limit,
				  const char *from, const char *to)
{
	double		top = dperm_picture_limit(Max(limit, count > 0 ? points[count - 1].y : 0));
	Frame		frame = {44, 12, 264, 130, points[0].x, points[count - 1].x, 0, top};
	double		last = points[0].y;

	begin_picture(page, 166, "", "Epsilon spent over time");
	dperm_page_put(page, "%.4g of %.4g after %d charges", points[count - 1].y, limit, count - 1);
	dperm_page_put(page, ", the dashed line is the limit.</desc>\n");
	put_level(page, &frame, 0, "0");
	put_level(page, &frame, top, psprintf("%.3g", top));
	put_line(page, "limit", frame.left, down(&frame, limit), frame.left + frame.width,
			 down(&frame, limit));
	dperm_page_put(page, "<polyline class=\"line\" points=\"");
	for (int i = 0; i < count; i++)
	{
		dperm_page_put(page, "%.1f,%.1f %.1f,%.1f ", across(&frame, points[i].x),
					   down(&frame, last), across(&frame, points[i].x), down(&frame, points[i].y));
		last = points[i].y;
	}
	dperm_page_put(page, "%.1f,%.1f\"/>\n", frame.left + frame.width, down(&frame, last));
	put_ends(page, &frame, from, to);
	dperm_page_put(page, "</svg></figure>\n");
}
