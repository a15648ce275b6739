# dperm in the official image of PostgreSQL.
#
#   docker build --pull --build-arg PG_MAJOR=17 -t dperm .
#   docker run --rm -e POSTGRES_PASSWORD=secret dperm
ARG PG_MAJOR=17

FROM postgres:${PG_MAJOR} AS build
# the headers of the very server of the image: later ones may need a later server
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc libc6-dev make libopenblas-serial-dev "postgresql-server-dev-$PG_MAJOR=$PG_VERSION"
COPY . /dperm
RUN make -C /dperm -j 2 && make -C /dperm install DESTDIR=/installed

FROM postgres:${PG_MAJOR}
RUN apt-get update && apt-get install -y --no-install-recommends libopenblas0-serial && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
