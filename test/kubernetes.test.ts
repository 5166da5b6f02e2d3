import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { commands } from '../src/interfaces/cli/commands.ts';
import { readConfig, type Config } from '../src/shared/config.ts';
import { campaignQueues } from '../src/rules/ids.ts';
import { httpTimeoutMs } from '../src/temporal/timeouts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const folder = 'deploy/kubernetes';
const files = {
  worker: read(`${folder}/worker.yaml`),
  budget: read(`${folder}/disruption-budget.yaml`),
  autoscaling: read(`${folder}/autoscaling.yaml`),
};

/*
 * The parts of the API that the files use, by its reference for version 1.34 and KEDA's for 2.17: what is not named here is refused, so
 * that a misspelt or misplaced field, which the API server drops or refuses, is found without one.
 */
const label = z.string().regex(/^[A-Za-z0-9][\w.-]{0,62}$/);
const labels = z.record(z.string(), label);
const metadata = z.strictObject({ name: z.string().regex(/^[a-z0-9-]{1,63}$/), labels: labels.optional() });
const selector = z.strictObject({ matchLabels: labels });
const seconds = z.number().int().positive();
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith('/'), port: z.string() }),
  periodSeconds: seconds,
  timeoutSeconds: seconds.optional(),
  failureThreshold: seconds,
});
const quantities = z.strictObject({
  cpu: z.string().regex(/^\d+m?$/).optional(), // prettier-ignore
  memory: z.string().regex(/^\d+[MG]i$/),
});
const secretKey = z.strictObject({ name: z.string(), key: z.string(), optional: z.boolean().optional() });
const variable = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({ name: z.string(), valueFrom: z.strictObject({ secretKeyRef: secretKey }) }),
]);
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(variable),
  ports: z.array(z.strictObject({ name: z.string().max(15), containerPort: z.number().int().max(65_535) })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.strictObject({ requests: quantities, limits: quantities }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/') })),
});
const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    selector,
    strategy: z.strictObject({ type: z.literal('Recreate') }),
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({
        terminationGracePeriodSeconds: seconds,
        automountServiceAccountToken: z.literal(false),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: seconds,
          runAsGroup: seconds,
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        topologySpreadConstraints: z.array(
          z.strictObject({
            maxSkew: seconds,
            topologyKey: z.literal('kubernetes.io/hostname'),
            whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
            labelSelector: selector,
          }),
        ),
        containers: z.tuple([container]),
        volumes: z.array(z.strictObject({ name: z.string(), emptyDir: z.strictObject({}) })),
      }),
    }),
  }),
});
const budget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ maxUnavailable: seconds, selector }),
});
const trigger = z.strictObject({
  type: z.literal('temporal'),
  metadata: z.strictObject({
    endpoint: z.string().regex(/^[\w.-]+:\d+$/),
    namespace: z.string(),
    taskQueue: z.string(),
    queueTypes: z.string().regex(/^(workflow|activity)(,(workflow|activity))*$/),
    targetQueueSize: z.string().regex(/^\d+$/),
  }),
});
const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata,
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ name: z.string() }),
    minReplicaCount: z.number().int(),
    maxReplicaCount: z.number().int(),
    pollingInterval: seconds,
    cooldownPeriod: seconds,
    advanced: z.strictObject({
      horizontalPodAutoscalerConfig: z.strictObject({
        behavior: z.strictObject({ scaleDown: z.strictObject({ stabilizationWindowSeconds: seconds }) }),
      }),
    }),
    triggers: z.array(trigger),
  }),
});

const secrets: Record<string, string> = {
  DATABASE_URL: 'postgres://carillon@db.example/carillon?sslmode=verify-full',
  SVC_API_KEY: 'sk_example',
  CARILLON_HOOK_SECRET: 'sixteen-characters-or-more',
};

/** Faults beyond form: against each other, the settings and the commands. */
function inspect(sources: typeof files): string[] {
  const worker = deployment.parse(parse(sources.worker));
  const scaled = scaledObject.parse(parse(sources.autoscaling));
  const { spec: pod, metadata: podMetadata } = worker.spec.template;
  const [{ env, args, ports, image, ...probes }] = pod.containers;
  const found: string[] = [];
  const want = (isGood: boolean, problem: string): void => void (isGood || found.push(problem));

  const valueOf = (each: (typeof env)[number]): string => ('value' in each ? each.value : (secrets[each.name] ?? ''));
  let config: Config;
  try {
    config = readConfig(Object.fromEntries(env.map((each) => [each.name, valueOf(each)])));
  } catch (error) {
    // An unknown setting's name is refused.
    return (error as Error).message.split('\n').map((line) => line.replace(/\.$/, ''));
  }
  for (const each of env) {
    want('value' in each !== Object.hasOwn(secrets, each.name), `${each.name} is in the wrong place`);
    if ('valueFrom' in each) want(each.valueFrom.secretKeyRef.key === each.name, `${each.name} has another name in the Secret`);
  }
  const portOf = (name: string) => ports.find((port) => port.name === name)?.containerPort;
  want(portOf('metrics') === config.CARILLON_METRICS_LISTEN?.port, 'metrics are at another port');
  want(portOf('health') === config.CARILLON_HEALTH_LISTEN?.port, 'probes are at another port');
  for (const listen of [config.CARILLON_METRICS_LISTEN, config.CARILLON_HEALTH_LISTEN])
    want(listen?.host === '0.0.0.0', 'a port is not reached from outside of the container');
  for (const [name, path] of [
    ['startupProbe', '/healthz'],
    ['livenessProbe', '/healthz'],
    ['readinessProbe', '/readyz'],
  ] as const)
    want(probes[name].httpGet.path === path && probes[name].httpGet.port === 'health', `${name} asks elsewhere`);
  const commandLine = args.join(' ');
  want(commandLine === 'worker --json' && commands.some(({ name }) => name === 'worker'), 'it runs no worker');
  const stopMs = httpTimeoutMs(config) + config.CARILLON_SUBMIT_SLACK_MS;
  want(pod.terminationGracePeriodSeconds * 1_000 > stopMs, 'a worker is killed in its request');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  want(image.endsWith(`:${version}`), `the image is not of version ${version}`);

  const selectors = [worker.spec.selector, budget.parse(parse(sources.budget)).spec.selector];
  for (const { matchLabels } of selectors)
    for (const [key, value] of Object.entries(matchLabels)) want(podMetadata.labels[key] === value, `${key}: ${value} selects no worker`);
  want(scaled.spec.scaleTargetRef.name === worker.metadata.name, 'something else is scaled');
  want(scaled.spec.minReplicaCount >= 2, 'a single worker, or none, may be left');
  const queues = campaignQueues(config.CARILLON_QUEUE_PREFIX, 'LEDGER_ID');
  for (const { metadata: of } of scaled.spec.triggers) {
    want([queues.campaign, queues.collect].includes(of.taskQueue), `nobody works on ${of.taskQueue}`);
    want(of.namespace === config.TEMPORAL_NAMESPACE && of.endpoint === config.TEMPORAL_ADDRESS, 'another Temporal');
  }
  return found;
}

test('the files for Kubernetes have the form of its API, and agree with settings, commands and each other', () => {
  expect(inspect(files)).toEqual([]);
});

test.each<[keyof typeof files, string | RegExp, string, string]>([
  ['worker', 'SVC_BASE_URL, value', 'SVC_URL, value', 'SVC_URL is no setting'],
  ['worker', /- name: SVC_API_KEY\n.*\n/, '- { name: SVC_API_KEY, value: sk_live }\n', 'SVC_API_KEY is in the wrong place'],
  ['worker', 'containerPort: 9465', 'containerPort: 9466', 'probes are at another port'],
  ['worker', '0.0.0.0:9464', '127.0.0.1:9464', 'a port is not reached from outside of the container'],
  ['worker', 'path: /readyz', 'path: /healthz', 'readinessProbe asks elsewhere'],
  ['worker', 'args: [worker, --json]', 'args: [work]', 'it runs no worker'],
  ['worker', 'terminationGracePeriodSeconds: 180', 'terminationGracePeriodSeconds: 30', 'a worker is killed in its request'],
  ['budget', 'app.kubernetes.io/name: carillon-worker', 'app: carillon', 'app: carillon selects no worker'],
  ['autoscaling', 'minReplicaCount: 2', 'minReplicaCount: 0', 'a single worker, or none, may be left'],
  ['autoscaling', 'carillon-collect-', 'carillon-collecting-', 'nobody works on carillon-collecting-LEDGER_ID'],
])('%s with "%s" changed to "%s" is found', (name, from, to, problem) => {
  const changed = files[name].replace(from, to);
  expect(changed).not.toBe(files[name]);
  expect(inspect({ ...files, [name]: changed })).toContain(problem);
});

test.each<[keyof typeof files, string, string]>([
  ['worker', 'livenessProbe:', 'livelinessProbe:'],
  ['worker', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
  ['budget', 'policy/v1', 'policy/v1beta1'],
  ['autoscaling', "targetQueueSize: '20'", 'targetQueueSize: 20'],
])('%s with "%s" changed to "%s" has not the form of the API', (name, from, to) => {
  expect(() => inspect({ ...files, [name]: files[name].replace(from, to) })).toThrow(z.ZodError);
});
