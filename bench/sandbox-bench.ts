import { setTimeout as sleep } from 'node:timers/promises';
import { say, startChild } from './child.ts';
import { fictionalNumbers } from './fictional-list.ts';
import type { Figure } from './report.ts';
import { measureRate, type LoadRequest } from './request-rate.ts';
import { startSandboxCommand, type SandboxCommand } from './sandbox-command.ts';
import { targets, type SandboxBenchSettings } from './settings.ts';

const apiKey = { 'x-api-key': 'sk_sandbox_ok' };
const root = '/v1/convai';

/** The sandbox as a program of its own: how soon it is there, how much it answers, simulates and holds. */
export async function benchSandbox(settings: SandboxBenchSettings): Promise<Figure[]> {
  const figures = [await benchStart(settings)];
  const { lines, speed } = settings;
  say(`The sandbox: ${settings.calls} calls on ${lines} lines at speed ${speed}`);
  const sandbox = await startSandboxCommand(['--speed', String(speed), '--concurrency', String(lines), '--seed', 'bench']);
  try {
    const idleMb = await sandbox.residentMb();
    figures.push(...(await benchCalls(sandbox, settings, idleMb)));
    figures.push(...(await benchReads(sandbox, settings)));
  } finally {
    await sandbox.stop();
  }
  figures.push(...(await benchPosts(settings)));
  return figures;
}

async function benchStart({ starts }: SandboxBenchSettings): Promise<Figure> {
  say(`The sandbox: ${starts} starts`);
  const times: number[] = [];
  for (let nth = 0; nth < starts; nth += 1) {
    const sandbox = await startSandboxCommand();
    times.push(sandbox.readyMs);
    await sandbox.stop();
  }
  times.sort((a, b) => a - b);
  return {
    name: 'sandbox, start to ready line',
    value: times[Math.floor(times.length / 2)] ?? NaN,
    unit: 'ms',
    target: { atMost: targets.sandboxStartMs },
    note: `median of ${starts}; ${times.map((time) => time.toFixed(0)).join(', ')}`,
  };
}

async function benchCalls(
  { url, residentMb }: SandboxCommand,
  { calls, callsPerPost }: SandboxBenchSettings,
  idleMb: number,
): Promise<Figure[]> {
  const begun = performance.now();
  const numbers = fictionalNumbers();
  for (let placed = 0; placed < calls; placed += callsPerPost) await post(url, batchBody(numbers, Math.min(callsPerPost, calls - placed)));
  const postedMs = performance.now() - begun;
  let over = 0;
  let peakMb = 0;
  for (let saidAt = performance.now(); over < calls;) {
    await sleep(500);
    peakMb = Math.max(peakMb, await residentMb());
    const { counts } = (await (await fetch(`${url}/_sandbox/info`)).json()) as { counts: { calls: CallCounts } };
    over = counts.calls.done + counts.calls.failed;
    if (performance.now() - saidAt < 15_000) continue;
    saidAt = performance.now();
    say(`  ${over} of ${calls} calls are over`);
  }
  const wallMs = performance.now() - begun;
  return [
    {
      name: 'sandbox, simulated calls per minute',
      value: Math.round(calls / (wallMs / 60_000)),
      unit: '',
      target: { atLeast: targets.callsPerMinute },
      note: `${calls} calls in ${(wallMs / 1000).toFixed(1)} s, posted within ${(postedMs / 1000).toFixed(1)} s; each held to its end and evaluated`,
    },
    {
      name: `sandbox, memory at ${calls} conversations`,
      value: await residentMb(),
      unit: 'MB',
      target: { atMost: targets.sandboxMb },
      note: `resident, the runtime included; ${idleMb.toFixed(0)} MB when it was empty, at most ${peakMb.toFixed(0)} MB between`,
    },
  ];
}

interface CallCounts {
  done: number;
  failed: number;
}

async function benchReads({ url }: SandboxCommand, { seconds }: SandboxBenchSettings): Promise<Figure[]> {
  const { conversations } = (await (await fetch(`${url}${root}/conversations?page_size=100`, { headers: apiKey })).json()) as {
    conversations: { conversation_id: string }[];
  };
  const ids = conversations.map(({ conversation_id }) => conversation_id);
  const reads: [string, (nth: number) => string][] = [
    ['get_conversation', (nth) => `${root}/conversations/${ids[nth % ids.length]}`],
    ['list_conversations', () => `${root}/conversations`],
    ['list_agents', () => `${root}/agents`],
  ];
  const figures: Figure[] = [];
  for (const [name, path] of reads) {
    say(`The sandbox: ${name}`);
    const read = (nth: number): LoadRequest => ({ method: 'GET', path: path(nth) });
    figures.push(...(await compare(`sandbox, ${name} per second`, url, read, ids.length, seconds)));
  }
  return figures;
}

/** Into a sandbox in real time, where the lines are soon taken and calls wait. */
async function benchPosts({ seconds, callsPerPost }: SandboxBenchSettings): Promise<Figure[]> {
  say('The sandbox: batch_calls');
  const sandbox = await startSandboxCommand();
  try {
    const numbers = fictionalNumbers();
    const bodies = Array.from({ length: 500 }, () => batchBody(numbers, callsPerPost));
    const place = (nth: number): LoadRequest => ({
      method: 'POST',
      path: `${root}/phone-numbers/batch-calls`,
      body: bodies[nth % bodies.length] ?? '',
    });
    return await compare(`sandbox, batches of ${callsPerPost} calls per second`, sandbox.url, place, 1, seconds);
  } finally {
    await sandbox.stop();
  }
}

/** The rate of the sandbox beside that of a server that does nothing but answer as many bytes. */
async function compare(
  name: string,
  url: string,
  request: (nth: number) => LoadRequest,
  samples: number,
  seconds: number,
): Promise<Figure[]> {
  let bytes = 0;
  for (let nth = 0; nth < samples; nth += 1) {
    const { method, path, body } = request(nth);
    const headers = { ...apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    bytes += (await (await fetch(url + path, { method, headers, body: body ?? null })).arrayBuffer()).byteLength;
  }
  const size = Math.round(bytes / samples);
  const rate = await measureRate({ url, request, seconds });
  const bare = await startChild('bare-server-process.mjs', null);
  try {
    const bareUrl = (bare.first as { url: string }).url;
    const bareRate = await measureRate({
      url: bareUrl,
      request: (nth) => ({ ...request(nth), path: `/${size}` }),
      seconds,
    });
    return [
      {
        name,
        value: Math.round(rate),
        unit: '',
        note: `${(rate / bareRate).toFixed(2)} of the ${Math.round(bareRate)} of bare node:http with bodies of the same ${size} bytes`,
      },
    ];
  } finally {
    await bare.stop();
  }
}

function batchBody(numbers: Iterator<string>, calls: number): string {
  return JSON.stringify({
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: Array.from({ length: calls }, (_, nth) => ({
      to_phone_number: numbers.next().value as string,
      conversation_config_override: {
        agent: { first_message: 'Hello {{ first_name }}, about your visit at {{ time }}.' },
      },
      variables: { first_name: `Person ${nth}`, time: '9:15' },
    })),
  });
}

async function post(url: string, body: string): Promise<void> {
  const answer = await fetch(`${url}${root}/phone-numbers/batch-calls`, {
    method: 'POST',
    headers: { ...apiKey, 'content-type': 'application/json' },
    body,
  });
  if (answer.status !== 200) throw new Error(`A batch was answered with ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}
