import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { legalHours, readLegalRules } from '../src/campaign/file/legal-rules.ts';
import type { CampaignRules } from '../src/rules/campaign-rules.ts';
import { defaultRetryDelays } from '../src/rules/attempts/retry-schedule.ts';
import { importCampaign } from '../src/ledger/campaign/import-campaign.ts';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { planBatch } from '../src/ledger/plan/planning.ts';
import { noteCallerProven, openRound } from '../src/ledger/campaign/rounds.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { say } from './child.ts';
import type { Figure } from './report.ts';
import { targets } from './settings.ts';
import type { Store } from '../src/ledger/tx.ts';

const campaignId = 'planning';
/** A Tuesday, 13:00 in New York and 10:00 in Los Angeles. */
const now = Date.UTC(2030, 0, 15, 18);
const batchSize = 100;
const batches = 41;
const minuteMs = 60_000;

async function buildRules(): Promise<CampaignRules> {
  const day = [{ from: 9 * 60, to: 20 * 60 }];
  return {
    agentId: 'agent_reminders',
    callers: { numbers: ['pn_main'], choice: 'region' },
    list: {
      columns: ['phone', 'name'],
      phoneColumn: 'phone',
      idColumn: null,
      timezoneColumn: null,
      countryColumn: null,
      regionColumn: null,
      zipColumn: null,
      notBeforeColumn: null,
      expiresAtColumn: null,
      defaultRegion: null,
      fallbackTimezone: null,
    },
    firstMessage: 'Hello {{ name }}',
    variables: null,
    calendar: { hours: { mon: day, tue: day, wed: day, thu: day, fri: day }, closedOn: [] },
    law: legalHours((await readLegalRules(null)).rules, now),
    caps: [{ by: 'number', calls: 3, withinMs: 24 * 60 * minuteMs }],
    startsAt: null,
    endsAt: null,
    retry: {
      maxAttempts: 3,
      maxAttemptsPerNumber: null,
      resetAfterMs: null,
      jitterMs: 0,
      delays: defaultRetryDelays,
      maxUncounted: 3,
    },
    pacing: {
      maxConcurrentCalls: 100_000,
      startsPerMinute: null,
      batchSize,
      refillThreshold: 20,
      warmUpMs: 0,
      priority: 10,
    },
    breaker: null,
    preDial: null,
    onCompletion: null,
    onPause: null,
    optOut: [],
    dispositions: [],
    correlation: { calleeNumber: [], batchId: [], reference: [] },
    timing: {
      dispatchMarginMs: 10 * minuteMs,
      settleMs: 30 * minuteMs,
      analysisWaitMs: 15 * minuteMs,
      lateDeliveryMs: 15 * minuteMs,
      lateLookbackMs: 120 * minuteMs,
      pollMs: 10_000,
      clockToleranceMs: 300_000,
      ringLimitMs: 60_000,
    },
    sharedWords: 'wait',
  };
}

/** Copies the one row that was imported until there are so many, in four places, with numbers of the unassigned exchange 555. */
async function fill(store: Store, rows: number): Promise<void> {
  const series =
    store.dialect === 'sqlite'
      ? sql`(with recursive series(i) as (select 2 union all select i + 1 from series where i < ${rows}) select i from series) as series`
      : sql`generate_series(2, ${rows}::bigint) as series(i)`;
  const four = store.dialect === 'sqlite' ? sql`printf('%04d', i % 10000)` : sql`lpad((i % 10000)::text, 4, '0')`;
  const area = store.dialect === 'sqlite' ? sql`cast(200 + i / 10000 as text)` : sql`(200 + i / 10000)::text`;
  const places = [
    ['America/New_York', 'NY'],
    ['America/Chicago', 'IL'],
    ['America/Denver', 'CO'],
    ['America/Los_Angeles', 'CA'],
  ];
  const pick = (of: (place: string[]) => string) =>
    sql`case i % 4 ${sql.join(
      places.map((place, index) => sql`when ${sql.lit(index)} then ${sql.lit(JSON.stringify([of(place)]))}`),
      sql` `,
    )} end`;
  await sql`
    insert into recipients (recipient_id, campaign_id, row_number, external_id, e164, cells, zones, country, regions, state, rank, due_at,
      attempts, counted, uncounted_in_row, budget_from, expires_at, caller, changed_at, outcome, reason, last_attempt_id, words_key)
    select ${campaignId} || '/' || i, campaign_id, i, null, '+1' || ${area} || '555' || ${four}, '["","Guest ' || i || '"]', ${pick(([zone = '']) => zone)}, 'US',
      ${pick(([, state = '']) => state)}, state, rank, due_at, attempts, counted, uncounted_in_row, budget_from, expires_at, caller, changed_at,
      outcome, reason, last_attempt_id, 'words ' || i
    from recipients, ${series} where row_number = 1`.execute(store.db);
  await sql.raw('analyze').execute(store.db);
}

async function* oneRow() {
  yield [
    {
      row: 1,
      cells: ['', 'Guest'],
      verdict: 'accepted' as const,
      externalId: null,
      e164: '+12015550100',
      zones: ['America/New_York'],
      country: 'US',
      regions: ['NY'],
    },
  ];
}

/** Milliseconds of each plan after the first, which also prepares statements. */
async function measure(location: StoreLocation, rows: number): Promise<number[]> {
  const store = await openStore(location);
  try {
    const campaign = {
      campaignId,
      name: null,
      fileHash: 'hash',
      rules: await buildRules(),
      accountId: 'http://service',
    };
    await importCampaign(store, campaign, { chunks: oneRow(), now });
    await fill(store, rows);
    await openRound(store, campaignId, now);
    await noteCallerProven(store, campaignId);
    await store.db.updateTable('campaigns').set({ record_shown: 1 }).execute();
    const took: number[] = [];
    for (let n = 1; n <= batches; n++) {
      const begun = performance.now();
      const render = (cells: readonly string[]) => ({ firstMessage: `Hello ${cells[1]}`, variables: null });
      const plan = await planBatch(store, { campaignId, round: 1, n, now, render });
      took.push(performance.now() - begun);
      if (plan.kind !== 'batch' || plan.size !== batchSize) throw new Error(`Batch ${n} was not planned: ${JSON.stringify(plan)}`);
      // The next one is planned when this one has its verdict.
      await store.db.updateTable('batches').set({ state: 'confirmed' }).where('batch_id', '=', plan.batchId).execute();
    }
    return took.slice(1);
  } finally {
    await store.close();
  }
}

/** Planning a batch of 100 from few and from many waiting recipients, on both databases. */
export async function benchPlanning(few: number, many: number): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const server = await startPostgresServer();
  const figures: Figure[] = [];
  try {
    for (const database of ['SQLite', 'PostgreSQL'] as const) {
      const medians: number[] = [];
      for (const rows of [few, many]) {
        say(`Planning: ${rows} waiting recipients in ${database}`);
        const location: StoreLocation = {
          sqlitePath: join(folder, `planning-${rows}.db`),
          ...(database === 'SQLite' ? {} : { databaseUrl: await server.createDatabase(`planning_${rows}`) }),
        };
        const took = (await measure(location, rows)).toSorted((a, b) => a - b);
        const median = took[Math.floor(took.length / 2)] ?? NaN;
        medians.push(median);
        figures.push({
          name: `${database}, a batch of ${batchSize} from ${rows.toLocaleString('en-US')}, median`,
          value: median,
          unit: 'ms',
          target: { atMost: targets.planningMs },
          note: `slowest of ${took.length}: ${(took.at(-1) ?? NaN).toFixed(0)} ms`,
        });
      }
      figures.push({
        name: `${database}, from many / from few`,
        value: (medians[1] ?? NaN) / (medians[0] ?? NaN),
        unit: '',
        target: { atMost: targets.planningGrowth },
      });
    }
    return figures;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
