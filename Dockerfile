# Tags, not digests: none was confirmed against the registry itself, and one that is wrong would not build at all.
FROM node:22.22.2-bookworm-slim AS build
WORKDIR /app
COPY . .
# The build runs in npm's prepare step (prepare.mjs).
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:22.22.2-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/rules ./rules
COPY --from=build /app/examples ./examples
# Lists and results: mount a volume here. A new one belongs to the user below.
RUN mkdir /campaigns && chown node:node /campaigns
WORKDIR /campaigns
USER node
ENTRYPOINT ["node", "/app/dist/src/interfaces/cli/main.js"]
CMD ["worker"]
