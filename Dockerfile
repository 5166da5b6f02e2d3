FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
# The build runs in npm's prepare step.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/rules ./rules
USER node
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["worker"]
