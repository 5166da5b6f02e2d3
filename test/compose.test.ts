import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const texts = z.array(z.string());
const named = z.record(z.string(), z.string());

/** The parts of a Compose file in use here: a misspelt key is refused. */
const composeFile = z.strictObject({
  name: z.string(),
  services: z.record(
    z.string(),
    z
      .strictObject({
        image: z.string(),
        build: z.string(),
        restart: z.enum(['unless-stopped', 'on-failure:5']),
        entrypoint: texts,
        command: texts,
        environment: named,
        ports: texts,
        volumes: texts,
        configs: z.array(z.strictObject({ source: z.string(), target: z.string() })),
        depends_on: z.record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) })),
        healthcheck: z.strictObject({
          test: texts,
          interval: z.string(),
          timeout: z.string(),
          retries: z.int(),
          start_period: z.string().optional(),
        }),
        read_only: z.boolean(),
        tmpfs: texts,
        cap_drop: texts,
        security_opt: texts,
        mem_limit: z.string(),
        pids_limit: z.int(),
        stop_grace_period: z.string(),
      })
      .partial(),
  ),
  configs: z.record(z.string(), z.strictObject({ content: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

const path = fileURLToPath(new URL('../docker-compose.yml', import.meta.url));
const text = readFileSync(path, 'utf8');

function validate(source: string): string[] {
  const { error } = composeFile.safeParse(parse(source));
  return (error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`);
}

/** Production faults of a Compose file beyond its form. */
function inspect(source: string): string[] {
  const { services, volumes } = parse(source) as z.infer<typeof composeFile>;
  const problems: string[] = [];
  for (const [name, service] of Object.entries(services)) {
    if (service.build === undefined && !/:v?\d+(\.\d+)+[\w.-]*$/.test(service.image ?? '')) problems.push(`${name}: no pinned tag`);
    for (const port of service.ports ?? []) {
      if (!port.startsWith('127.0.0.1:')) problems.push(`${name}: ${port} is open to the network`);
      if (port.includes('7233')) problems.push(`${name}: publishes 7233`);
    }
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = services[other];
      if (target === undefined) problems.push(`${name}: depends on ${other}, which is not there`);
      else if (condition === 'service_healthy' && target.healthcheck === undefined) problems.push(`${name}: ${other} has no health check`);
      else if (condition === 'service_completed_successfully' && target.restart === 'unless-stopped')
        problems.push(`${name}: ${other} never completes`);
    }
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0] ?? '';
      if (!volume.includes(':') || !(source in volumes)) problems.push(`${name}: ${volume} is not on a named volume`);
    }
    for (const [key, value] of Object.entries(service.environment ?? {})) {
      if (/PASSWORD|PWD|KEY|DATABASE_URL/.test(key) && !/\$\{\w+:\?[^}]+\}/.test(value)) problems.push(`${name}: ${key} is not asked for`);
    }
  }
  const { carillon } = services;
  if (carillon?.read_only !== true) problems.push('carillon: may write to its root');
  if (carillon?.mem_limit === undefined) problems.push('carillon: may take all memory');
  if (carillon?.volumes?.some((volume) => volume.endsWith(':/campaigns')) !== true)
    problems.push('carillon: has no place for lists and results');
  if (/superuser/.test(source)) problems.push('carillon: its role may do everything');
  const scripts = Object.values(services).flatMap(({ command }) => command ?? []);
  if (!scripts.some((script) => /namespace create .*--retention \d+h/.test(script))) problems.push('no namespace with a retention');
  for (const kind of ['temporal temporal', 'temporal_visibility visibility']) {
    if (!scripts.some((script) => script.includes(`set_up ${kind}\n`))) problems.push(`no schema for ${kind}`);
  }
  const versions = ['temporal', 'temporal-schema', 'temporal-namespace'].map((name) => services[name]?.image?.split(':')[1]);
  if (new Set(versions).size !== 1) problems.push('server and admin-tools differ in version');
  return problems;
}

/** Our file with one change, which proves that each check can fail. */
function broken(from: string | RegExp, to: string): string {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  return changed;
}

test('the Compose file has the form of one', () => {
  expect(validate(text)).toEqual([]);
});

test.skipIf(spawnSync('docker', ['compose', 'version']).status !== 0)('Docker Compose takes the file', () => {
  const asked = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => [name, 'set']);
  const env = { ...process.env, ...Object.fromEntries(asked) };
  const { status, stderr } = spawnSync('docker', ['compose', '--file', path, 'config', '--quiet'], {
    encoding: 'utf8',
    env,
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

test.each([
  ['a key that is misspelt', /restart: unless-stopped/, 'restrat: unless-stopped'],
  ['a service without a body', /    build: \./, '    build: 3'],
  ['a condition that does not exist', 'condition: service_healthy', 'condition: service_ready'],
  ['a volume list at the top', /^volumes:\n[^]*/m, 'volumes:\n  - postgres-data\n'],
])('the schema check finds %s', (_, from, to) => {
  expect(validate(broken(from, to))).not.toEqual([]);
});

test.each(['Dockerfile', 'deploy/sandbox/Dockerfile'])('every image of %s is exact to the patch', (path) => {
  const dockerfile = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
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
  [/ {4}healthcheck:\n {6}test: \[CMD, nc[^#]*?retries: 60\n {6}start_period: 30s\n/, '', 'temporal-ui: temporal has no health check'],
  ['postgres-data:/var/lib/postgresql/data', '/var/lib/postgresql/data', 'postgres: /var/lib/postgresql/data is not on a named volume'],
  ['read_only: true', 'read_only: false', 'carillon: may write to its root'],
  ['mem_limit: 2g', 'cpus: 2', 'carillon: may take all memory'],
  ['campaigns:/campaigns', 'campaigns:/lists', 'carillon: has no place for lists and results'],
  ['create role carillon login', 'create role carillon login superuser', 'carillon: its role may do everything'],
  [/\$\{SVC_API_KEY:\?[^}]*\}/, 'sk_live', 'carillon: SVC_API_KEY is not asked for'],
  [/temporalio\/server:\S+/, 'temporalio/server:1.29.1', 'server and admin-tools differ in version'],
])('the set-up check finds %s changed to "%s"', (from, to, problem) => {
  expect(inspect(broken(from, to))).toContain(problem);
});
