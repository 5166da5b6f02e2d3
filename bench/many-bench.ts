import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallTruth } from '../src/sandbox/core/telephony/call-truth.ts';
import { runWithTemporal } from './campaign-bench.ts';
import { say } from './child.ts';
import { writeCallableCampaigns } from './fictional-list.ts';
import type { Figure } from './report.ts';
import { targets, type CampaignSettings } from './settings.ts';

const mainAgent = 'agent_reminders';

interface Waits {
  longestMs: number;
  meanMs: number;
  count: number;
}

/** Real milliseconds for which a campaign had `threshold` lines free and people to call, until the service had its next request. */
function waitsOf(calls: readonly CallTruth[], { openCalls, refillThreshold, speed, recipients }: CampaignSettings): number[] {
  const steps = calls.flatMap(({ acceptedAt, realAcceptedAt, endedAt }) => [
    { at: realAcceptedAt, by: 1 },
    { at: realAcceptedAt + ((endedAt ?? acceptedAt) - acceptedAt) / speed, by: -1 },
  ]);
  const waits: number[] = [];
  let [open, called] = [0, 0];
  let since: number | null = null;
  for (const { at, by } of steps.sort((a, b) => a.at - b.at || b.by - a.by)) {
    open += by;
    if (by > 0) {
      called += 1;
      if (since !== null) waits.push(at - since);
      since = null;
    } else if (called < recipients && openCalls - open >= refillThreshold) {
      since ??= at;
    }
  }
  return waits;
}

function summarise(all: readonly CallTruth[], settings: CampaignSettings): Waits {
  // A request is named after its campaign.
  const campaignOf = ({ requestId }: CallTruth) => String(requestId).split('/')[0];
  const waits = [...new Set(all.map(campaignOf))].flatMap((campaign) =>
    waitsOf(
      all.filter((call) => campaignOf(call) === campaign),
      settings,
    ),
  );
  const sum = waits.reduce((so, wait) => so + wait, 0);
  return { longestMs: Math.max(0, ...waits), meanMs: sum / Math.max(1, waits.length), count: waits.length };
}

async function run(settings: CampaignSettings, agents: readonly string[]): Promise<Waits & { wallMs: number; cpuMs: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const campaignPaths = await writeCallableCampaigns(folder, settings, agents);
    const service = { ...settings, openCalls: settings.openCalls * agents.length };
    const { result, truth } = await runWithTemporal(service, { folder, campaignPaths, look: null });
    const wanted = agents.length * settings.recipients;
    if (truth.calls !== wanted) throw new Error(`The service had ${truth.calls} calls instead of ${wanted}.`);
    return { ...summarise(truth.all, settings), wallMs: result.wallMs, cpuMs: result.cpuMs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Many campaigns on one worker: how much longer than one that is alone each of them leaves free lines unused. */
export async function benchManyCampaigns(settings: CampaignSettings, campaigns: number): Promise<Figure[]> {
  const seconds = (ms: number) => ms / 1000;
  say(`One campaign: ${settings.recipients} recipients`);
  const alone = await run(settings, [mainAgent]);
  say(`${campaigns} campaigns: ${settings.recipients} recipients each`);
  const many = await run(settings, Array<string>(campaigns).fill(mainAgent));
  return [
    {
      name: 'longest wait with free lines, alone',
      value: seconds(alone.longestMs),
      unit: 's',
      note: `${alone.count} waits, mean ${alone.meanMs.toFixed(0)} ms`,
    },
    {
      name: `the same, ${campaigns} campaigns`,
      value: seconds(many.longestMs),
      unit: 's',
      note: `${many.count} waits, mean ${many.meanMs.toFixed(0)} ms`,
    },
    {
      name: 'longest wait for other campaigns',
      value: seconds(many.longestMs) - settings.pollSeconds / settings.speed,
      unit: 's',
      target: { atMost: targets.waitForOthersSeconds },
      note: 'beyond the pause between two looks at the list, which one that is alone waits at most',
    },
    {
      name: 'beyond the longest wait alone',
      value: seconds(many.longestMs - alone.longestMs),
      unit: 's',
      target: { atMost: targets.waitForOthersSeconds },
      note: `of only ${alone.count} waits alone`,
    },
    {
      name: 'processor time, Carillon worker',
      value: seconds(many.cpuMs),
      unit: 's',
      note: `${(many.cpuMs / campaigns / settings.recipients).toFixed(1)} ms per recipient`,
    },
  ];
}
