import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Service {
  image?: string;
  build?: string;
  ports?: string[];
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
  restart?: string;
  volumes?: string[];
  read_only?: boolean;
  mem_limit?: string;
}

interface ComposeFile {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

/** `schema/compose-spec.json` of the Go module github.com/compose-spec/compose-go/v2 v2.16.2 (Apache-2.0), reformatted. */
const schema = JSON.parse(readFileSync(new URL('fixtures/compose-spec.json', import.meta.url), 'utf8')) as object;
const text = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');

function validate(source: string): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const check = ajv.compile(schema);
  check(parse(source));
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** What is wrong with a Compose file as a production set-up, beyond its form. */
function inspect(source: string): string[] {
  const { services, volumes } = parse(source) as ComposeFile;
  const problems: string[] = [];
  for (const [name, service] of Object.entries(services)) {
    if (service.build === undefined && !/:v?\d+(\.\d+)+[\w.-]*$/.test(service.image ?? ''))
      problems.push(`${name}: no pinned tag`);
    for (const port of service.ports ?? []) {
      if (!port.startsWith('127.0.0.1:')) problems.push(`${name}: ${port} is open to the network`);
      if (port.includes('7233')) problems.push(`${name}: publishes 7233`);
    }
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = services[other];
      if (target === undefined) problems.push(`${name}: depends on ${other}, which is not there`);
      else if (condition === 'service_healthy' && target.healthcheck === undefined)
        problems.push(`${name}: ${other} has no health check`);
      else if (condition === 'service_completed_successfully' && target.restart === 'unless-stopped')
        problems.push(`${name}: ${other} never completes`);
    }
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0] ?? '';
      if (!volume.includes(':') || !(source in volumes)) problems.push(`${name}: ${volume} is not on a named volume`);
    }
    for (const [key, value] of Object.entries(service.environment ?? {})) {
      if (/PASSWORD|PWD|KEY|DATABASE_URL/.test(key) && !/\$\{\w+:\?[^}]+\}/.test(value))
        problems.push(`${name}: ${key} is not asked for`);
    }
  }
  const { carillon } = services;
  if (carillon?.read_only !== true) problems.push('carillon: may write to its root');
  if (carillon?.mem_limit === undefined) problems.push('carillon: may take all memory');
  if (carillon?.volumes?.some((volume) => volume.endsWith(':/campaigns')) !== true)
    problems.push('carillon: has no place for lists and results');
  if (/superuser/.test(source)) problems.push('carillon: its role may do everything');
  const scripts = Object.values(services).flatMap(({ command }) => command ?? []);
  if (!scripts.some((script) => /namespace create .*--retention \d+h/.test(script)))
    problems.push('no namespace with a retention');
  for (const kind of ['temporal temporal', 'temporal_visibility visibility']) {
    if (!scripts.some((script) => script.includes(`set_up ${kind}\n`))) problems.push(`no schema for ${kind}`);
  }
  const versions = ['temporal', 'temporal-schema', 'temporal-namespace'].map(
    (name) => services[name]?.image?.split(':')[1],
  );
  if (new Set(versions).size !== 1) problems.push('server and admin-tools differ in version');
  return problems;
}

/** Our file with one thing changed, so that each check is known to be able to fail. */
function broken(from: string | RegExp, to: string): string {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  return changed;
}

test('the Compose file is valid by the official schema', () => {
  expect(validate(text)).toEqual([]);
});

test.each([
  ['an unknown key', /restart: unless-stopped/, 'restrat: unless-stopped'],
  ['a service without a body', /    build: \./, '    build: 3'],
  ['a condition that does not exist', 'condition: service_healthy', 'condition: service_ready'],
  ['a volume list at the top', /^volumes:\n[^]*/m, 'volumes:\n  - postgres-data\n'],
])('the schema check finds %s', (_, from, to) => {
  expect(validate(broken(from, to))).not.toEqual([]);
});

test('every image of the Dockerfile is exact to the patch', () => {
  const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8');
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(new Set(images)).toEqual(new Set([expect.stringMatching(/^node:22\.\d+\.\d+-bookworm-slim$/)]));
  expect(images).toHaveLength(2);
});

test('the Compose file is a production set-up', () => {
  expect(inspect(text)).toEqual([]);
});

test.each([
  [/temporalio\/ui:\S+/, 'temporalio/ui:latest', 'temporal-ui: no pinned tag'],
  [/postgres:17\S+/, 'postgres', 'postgres: no pinned tag'],
  ['127.0.0.1:8080:8080', '8080:8080', 'temporal-ui: 8080:8080 is open to the network'],
  ['127.0.0.1:8080:8080', '127.0.0.1:7233:7233', 'temporal-ui: publishes 7233'],
  ['--retention 720h', '', 'no namespace with a retention'],
  ['set_up temporal_visibility visibility', 'true', 'no schema for temporal_visibility visibility'],
  [/ {6}temporal-namespace:\n/, '      temporal-name:\n', 'carillon: depends on temporal-name, which is not there'],
  [
    / {4}healthcheck:\n {6}test: \[CMD, nc[^#]*?retries: 60\n {6}start_period: 30s\n/,
    '',
    'temporal-ui: temporal has no health check',
  ],
  [
    'postgres-data:/var/lib/postgresql/data',
    '/var/lib/postgresql/data',
    'postgres: /var/lib/postgresql/data is not on a named volume',
  ],
  ['read_only: true', 'read_only: false', 'carillon: may write to its root'],
  ['mem_limit: 2g', 'cpus: 2', 'carillon: may take all memory'],
  ['campaigns:/campaigns', 'campaigns:/lists', 'carillon: has no place for lists and results'],
  ['create role carillon login', 'create role carillon login superuser', 'carillon: its role may do everything'],
  [/\$\{SVC_API_KEY:\?[^}]*\}/, 'sk_live', 'carillon: SVC_API_KEY is not asked for'],
  [/temporalio\/server:\S+/, 'temporalio/server:1.29.1', 'server and admin-tools differ in version'],
])('the set-up check finds %s changed to "%s"', (from, to, problem) => {
  expect(inspect(broken(from, to))).toContain(problem);
});
