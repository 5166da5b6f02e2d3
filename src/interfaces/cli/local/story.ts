import { spawnSync } from 'node:child_process';
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { findCampaign, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { addRows } from '../../../operations/control/add-rows.ts';
import type { Control } from '../../../operations/control/control.ts';
import { checkerPath, makeEvidence } from '../../../operations/control/evidence.ts';
import { steer } from '../../../operations/control/steer.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { keyHeaders } from '../../../rules/service-api.ts';
import type { SandboxOptions } from '../../../sandbox/core/settings/settings.ts';
import { sandboxKey } from '../../../sandbox/http/authentication.ts';
import { packageFolder } from '../../../shared/input/package-folder.ts';
import { plural } from '../../../shared/input/figures.ts';
import type { LocalWorld } from '../access/local-world.ts';
import type { Io } from '../terminal/io.ts';

/** Friday 15:30 in New York, two days before daylight saving time begins. */
const beginsAt = Date.parse('2030-03-08T20:30:00Z');
const workerGoesAt = Date.parse('2030-03-08T22:00:00Z');
const workerIsGoneMs = 40 * 60_000;
const leads = 40;
const leadEveryMs = 6 * 60_000;
const pollEveryMs = 400;

/** Shrinks the recall to minutes: one afternoon instead of two weeks, and no callback on another day. */
const smaller: readonly [written: string, here: string][] = [
  ['pilot: { rows: 100 }', 'pilot: { rows: 40 }'],
  ['min: 30 }', 'min: 10 }'],
  ['caller_limits: { per_day: 80 }', 'caller_limits: { per_day: 260 }'],
  ['stop_at: { goal: 400 }', 'stop_at: { goal: 120 }'],
];
const anotherDay = /callback_in: \d{4} /g;

const source = () => packageFolder('examples/recall');

/** Keeps the recall's id, which seeds its samples. Returns the path of the campaign file. */
export async function writeStory(folder: string): Promise<string> {
  await cp(source(), folder, { recursive: true });
  const path = join(folder, 'campaign.yaml');
  let text = await readFile(path, 'utf8');
  for (const [written, here] of smaller) text = text.replace(written, here);
  await writeFile(path, text);
  for (const name of ['callees.yaml', 'callees-later.yaml']) {
    const recipients = await readFile(join(folder, name), 'utf8');
    await writeFile(join(folder, name), recipients.replaceAll(anotherDay, 'callback_in: 45 '));
  }
  return path;
}

export async function storySandbox(folder: string, speed: number): Promise<SandboxOptions> {
  const agent = JSON.parse(await readFile(join(folder, 'agent.json'), 'utf8')) as object;
  const world = parse(await readFile(join(folder, 'callees.yaml'), 'utf8')) as SandboxOptions['world'];
  const fixture = { agents: [{ agent_id: 'agent_recall', ...agent }] } as SandboxOptions['fixture'];
  return { port: 0, speed, seed: 'story', epochMs: beginsAt, fixture, seedData: true, world } as SandboxOptions;
}

interface Operator {
  world: LocalWorld;
  control: Control;
  campaignId: string;
  folder: string;
  /** Service seconds per real second. */
  speed: number;
  leave: AbortSignal;
}

/** Plays the people of the story until the campaign has ended. */
export async function operate(io: Io, operator: Operator): Promise<void> {
  const { world, control, campaignId, folder, speed, leave } = operator;
  const say = (text: string): void => void io.stdout.write(`\n** ${text}\n`);
  const waiting = await readLeads(folder);
  const { length } = waiting;
  let wasGone = false;
  for (let leadAt = 0; !leave.aborted; await sleep(pollEveryMs, undefined, { signal: leave }).catch(() => {})) {
    const campaign = await findCampaign(world.store.db, campaignId);
    if (campaign === undefined || hasEnded(campaign)) return;
    const now = world.sandbox.clock.now();
    if (campaign.state === 'paused' && campaign.pilot?.state === 'asked') {
      if (/does not hold/.test(campaign.stateReason ?? '')) await changeAgent(operator, campaign, say);
      else {
        say(`${campaign.stateReason ?? ''} Go on.`);
        await steer(control, { campaignId, wish: 'resume' });
      }
    }
    if (!wasGone && now >= workerGoesAt && campaign.state === 'running') {
      wasGone = true;
      say('It is five in the afternoon: the worker stops for 40 minutes. Calls that are open go on without it.');
      await world.withoutWorker(workerIsGoneMs / speed);
      say('The worker is back.');
    }
    if (campaign.state !== 'running' || now < leadAt || waiting.length === 0 || campaign.goal === 'reached') continue;
    leadAt = now + leadEveryMs;
    const [lead] = waiting.splice(0, 1);
    // Every second web form is sent twice.
    const times = waiting.length % 2 === 0 ? 2 : 1;
    for (let time = 0; time < times; time += 1) await addRows(control, { campaignId, rows: lead === undefined ? [] : [lead] });
    if (waiting.length === length - 1) say('People who ask for an appointment on the web are added one by one, half of them twice.');
  }
}

async function changeAgent({ world, control, campaignId, folder }: Operator, campaign: Campaign, say: (text: string) => void) {
  say(campaign.stateReason ?? '');
  const prompt = 'You say at once who calls, and why. You ask {{first_name}} whether they come to their check-up, or when to call back.';
  const ask = async (method: 'PATCH' | 'PUT', path: string, body: unknown): Promise<void> => {
    const headers = { 'content-type': 'application/json', [keyHeaders.contract]: sandboxKey };
    const { ok, status } = await fetch(`${world.sandbox.url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!ok) throw new Error(`The sandbox answers ${status} to ${method} ${path}`);
  };
  await ask('PATCH', '/v1/convai/agents/agent_recall', { conversation_config: { agent: { prompt: { prompt } } } });
  // Recipients who hear at once who calls are less annoyed.
  await ask('PUT', '/_sandbox/world', parse(await readFile(join(folder, 'callees-later.yaml'), 'utf8')));
  say('Too many never want to be called again: the agent is changed, and says at once who calls. Another sample first.');
  await steer(control, { campaignId, wish: 'resume', sample: true });
}

/** Plays a complaint of the most-called recipient: writes the evidence and has it checked. Returns true if it is whole. */
export async function answerComplaint(
  io: Io,
  { world, control, folder }: Pick<Operator, 'world' | 'control' | 'folder'>,
): Promise<boolean> {
  const counts = new Map<string, number>();
  for (const { to } of world.sandbox.calls()) counts.set(to, (counts.get(to) ?? 0) + 1);
  const [[e164, calls] = ['', 0]] = [...counts].toSorted(([, one], [, other]) => other - one);
  const now = Math.round(world.sandbox.clock.now());
  const bundle = await makeEvidence(control, { e164, since: null, now, by: 'the story', withConversations: true });
  const [path, checker] = ['evidence.zip', 'check.mjs'].map((name) => join(folder, name)) as [string, string];
  await writeFile(path, bundle.bytes);
  await copyFile(checkerPath, checker);
  const { status, stdout } = spawnSync(execPath, [checker, path], { encoding: 'utf8' });
  const whole = status === 0 ? (stdout.split('\n')[0] ?? '') : 'NOT WHOLE';
  io.stdout.write(`\n** Somebody who was called ${plural(calls, 'time')} complains: ${path}\n   node check.mjs evidence.zip   ${whole}\n`);
  return status === 0 && bundle.calls === calls && bundle.findings === 0;
}

async function readLeads(folder: string): Promise<Record<string, string>[]> {
  const [head = '', ...lines] = (await readFile(join(folder, 'leads.csv'), 'utf8')).trim().split('\n');
  const columns = head.split(',');
  return lines.slice(0, leads).map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at] ?? '', cell])));
}
