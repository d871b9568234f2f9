module sandglass.dev/e2e/cluster/node

go 1.26.0
