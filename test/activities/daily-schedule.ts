import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { putSchedule } from '../../src/ledger/campaign/schedules.ts';
import { noon } from '../ledger/scenario.ts';
import { asActivity } from '../support/activity-context.ts';
import { hourMs } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';

export const schedule = { scheduleId: 'carillon/carillon/daily', campaignId: 'daily' };
const service = 'http://service';
const dayMs = 24 * hourMs;

interface Daily {
  accountId?: string;
  list?: string | Uint8Array;
  unnamedEncoding?: 'western';
  columns?: string;
  yaml?: readonly string[];
  onLog?: (line: string) => void;
}

/** Returns a function that runs the schedule on the nth day. */
export async function daily(store: Store, setting: Daily = {}) {
  const { accountId = service, list = 'phone\n+12125550142\n+12125550143\n', yaml = ['hours: any', 'law: off'], columns = '' } = setting;
  const folder = mkdtempSync(join(tmpdir(), 'carillon-fire-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'list.csv'), list);
  const content = [
    'id: daily',
    'agent_id: agent_reminders',
    'from_phone_number_id: pn_main',
    `list: { file: list.csv, phone: phone, default_region: US${columns} }`,
    ...yaml,
  ].join('\n');
  const filePath = join(folder, 'campaign.yaml');
  await putSchedule(store, {
    ...schedule,
    filePath,
    content,
    listSource: 'list.csv',
    accountId: service,
    createdAt: noon,
    unnamedEncoding: setting.unnamedEncoding ?? null,
  });
  let now = noon;
  const { fireSchedule, noteFiringFailure } = createActivities(
    buildDependencies({
      store,
      accountId,
      now: () => now,
      logger: pino({ level: 'warn' }, { write: (line) => setting.onLog?.(line) }),
    }),
  );
  /** Like its workflow: records why a run failed. */
  return async (day: number): Promise<string> => {
    now = noon + day * dayMs;
    const firing = { scheduleId: schedule.scheduleId, scheduledAt: now, timeZone: 'UTC', catchUpMs: 600_000 };
    try {
      return (await asActivity(() => fireSchedule(firing))).campaignId;
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      await noteFiringFailure({ ...firing, reason: error.message });
      return `${error.nonRetryable === true ? 'for good' : 'for now'}: ${error.message}`;
    }
  };
}
