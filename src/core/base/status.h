/*
 * status.h: how the core reports errors that depend on its arguments.
 */
#ifndef DPERM_STATUS_H
#define DPERM_STATUS_H

typedef enum DpermStatus
{
	DPERM_OK = 0,
	DPERM_BAD_ARGUMENT,			/* a parameter is outside its documented range */
	DPERM_BAD_FORMAT,			/* a text or binary form cannot be decoded */
	DPERM_NO_ENTROPY,			/* the random source failed */
	DPERM_NOT_CERTIFIED			/* a solver did not reach its goal; never the result of a fit */
} DpermStatus;

#endif							/* DPERM_STATUS_H */
