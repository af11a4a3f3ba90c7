# Builds the service from source. The ledger is in /data; see docs/operations.md.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build
# Keeps the dependencies and all optional packages, in the versions of the lock file.
RUN npm install --ignore-scripts --save-exact --save-prod $(node scripts/optionalPackageVersions.mjs) \
  && npm prune --ignore-scripts --omit=dev

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production \
  ISOTHERM_HOST=0.0.0.0 \
  ISOTHERM_PORT=8080 \
  ISOTHERM_DATA=/data
WORKDIR /opt/isotherm
COPY LICENSE NOTICE ./
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
RUN ln -s /opt/isotherm/dist/cli/main.js /usr/local/bin/isotherm \
  && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ISOTHERM_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["isotherm"]
CMD ["serve"]
