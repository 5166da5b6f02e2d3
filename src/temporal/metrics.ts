import { setTimeout as sleep } from 'node:timers/promises';
import type { MetricMeter, MetricTags } from '@temporalio/common';
import { realClock, type ServiceClock } from '../service/port/service-clock.ts';
import { findCampaign } from '../ledger/rows/campaigns.ts';
import { listWatched, readFigures, type CampaignFigures } from '../ledger/read/figures.ts';
import { StandbyError, standbyText } from '../ledger/postgres/writer-pool.ts';
import { listWithWaiting, type WebhookWithWaiting } from '../ledger/webhooks/waiting.ts';
import type { Logger } from '../shared/logger.ts';
import type { Store } from '../ledger/tx.ts';

/** Minimum pause, in real ms. */
const readEveryMs = 15_000;
/** Pause as a multiple of the last read's duration, so that reads never slow down the calls. */
const restPerWork = 20;
/** Service time for which a campaign that ended before the last (or first) read is still shown. */
const lookBackMs = 10 * 60_000;

export interface MetricsInput {
  meter: MetricMeter;
  store: Pick<Store, 'db'>;
  serviceClock: () => Promise<ServiceClock>;
  logger: Logger;
}

/** Series drop to 0 when their label disappears. */
class Gauge {
  readonly #set: (value: number, tags: MetricTags) => void;
  readonly #shown = new Map<string | null, Set<string>>();

  constructor(meter: MetricMeter, name: string, description: string) {
    const gauge = meter.createGauge(name, 'float', undefined, description);
    this.#set = (value, tags) => gauge.set(value, tags);
  }

  set(campaign: string, value: number): void {
    this.#set(value, { campaign });
  }

  /** One series per value of `label`; the campaign's others (null: no campaign) become 0. */
  setEach(campaign: string | null, label: string, values: Readonly<Record<string, number>>): void {
    const shown = this.#shown.get(campaign) ?? new Set();
    this.#shown.set(campaign, shown);
    const tags = campaign === null ? {} : { campaign };
    for (const name of Object.keys(values)) shown.add(name);
    for (const name of shown) this.#set(values[name] ?? 0, { ...tags, [label]: name });
  }
}

/** Shows 0 once a webhook is removed. */
function createWebhookGauges(meter: MetricMeter): (webhooks: readonly WebhookWithWaiting[], now: number) => void {
  const waiting = new Gauge(meter, 'carillon_webhook_events_waiting', 'Events that the webhook has not taken yet, at most 10,000.');
  const oldest = new Gauge(meter, 'carillon_webhook_oldest_event_seconds', 'Age of the oldest event that waits for the webhook; 0: none.');
  return (webhooks, now) => {
    const ages = webhooks.map(({ webhookId, waiting: { oldestAt } }) => [webhookId, Math.max(0, now - (oldestAt ?? now)) / 1000]);
    waiting.setEach(null, 'webhook', Object.fromEntries(webhooks.map(({ webhookId, waiting: { events } }) => [webhookId, events])));
    oldest.setEach(null, 'webhook', Object.fromEntries(ages));
  };
}

type Reading = (figures: CampaignFigures) => number | Readonly<Record<string, number>>;

/** Name, description, value or values, and the label of several. */
// prettier-ignore
const figuresShown: readonly (readonly [name: string, description: string, read: Reading, label?: string])[] = [
  ['campaign_state', 'Whether the campaign is in this state: 1 or 0.', ({ state }) => ({ [state]: 1 }), 'state'],
  ['planner_reason', 'Whether the planner waits for this: 1 or 0. ready: it would plan a batch.',
    ({ reason }) => (reason === null ? {} : { [reason]: 1 }), 'reason'],
  ['calls', 'Calls that have ended, by disposition.', ({ calls }) => calls, 'disposition'],
  ['recipients', 'Recipients that are done, by outcome.', ({ outcomes }) => outcomes, 'outcome'],
  ['batches', 'Batches by state.', ({ batches }) => batches, 'state'],
  ['recipients_waiting', 'Recipients that wait for a call.', ({ waiting }) => waiting],
  ['calls_open', 'Calls that were requested and have no result yet.', ({ open }) => open],
  ['calls_allowed', 'Calls that may be on the line now; 0 while nothing is dialled.', ({ allowed }) => allowed],
  ['callbacks', 'Promises to call people back: open, of those overdue, and unclear.', ({ callbacks }) => callbacks, 'state'],
  ['results', 'Talks by what they came to.', ({ results }) => results, 'result'],
  ['goals', 'Talks that came to the goal.', ({ goals }) => goals],
  ['goals_wanted', 'Goals that end the dialling; 0: nothing does.', ({ goalsWanted }) => goalsWanted ?? 0],
  ['pilot', 'Whether the pilot is calling, asked (a person decides) or passed: 1 or 0.', ({ pilot }) => pilot, 'state'],
  ['caller_room', 'Calls that a caller number with limits may begin now.', ({ callerRooms }) => callerRooms, 'phone_number_id'],
  ['recipients_without_consent', 'Recipients that are done for want of consent, by reason.', ({ unconsented }) => unconsented, 'reason'],
  ['house_version', 'The version of the house rules that holds; 0: there are none.', ({ houseVersion }) => houseVersion],
  ['oldest_unknown_seconds', 'Age of the oldest request whose fate is unknown; 0: there is none.', ({ oldestUnknownMs }) => oldestUnknownMs / 1000],
  ['sweep_lag_seconds', 'For how long an open call has waited for a complete sweep.', ({ sweepLagMs }) => sweepLagMs / 1000],
  ['unowned_records', 'Records since the round began that belong to no call and may hold a talk.', ({ unownedRecords }) => unownedRecords],
  ['last_accepted_seconds', 'Since the service last accepted a batch, or the round began.', ({ sinceAcceptedMs }) => sinceAcceptedMs / 1000],
  ['breaker_open', 'Whether the breaker has paused the campaign: 1 or 0.', ({ breakerOpen }) => (breakerOpen ? 1 : 0)],
  ['paused_by_itself', 'Whether the campaign has paused by itself, for whatever reason: 1 or 0.', ({ pausedByItself }) => (pausedByItself ? 1 : 0)],
];

function createGauges(meter: MetricMeter): (figures: CampaignFigures) => void {
  const gauges = figuresShown.map(([name, description, read, label = '']) => {
    return { gauge: new Gauge(meter, `carillon_${name}`, description), read, label };
  });
  return (figures) => {
    for (const { gauge, read, label } of gauges) {
      const value = read(figures);
      if (typeof value === 'number') gauge.set(figures.campaignId, value);
      else gauge.setEach(figures.campaignId, label, value);
    }
  };
}

/**
 * Reads figures periodically until `stop`. An ended campaign keeps its last ones, as does a failed read;
 * `carillon_figures_read_timestamp_seconds` shows their age.
 */
export function showFigures({ meter, store, serviceClock, logger }: MetricsInput): { stop(): Promise<void> } {
  const show = createGauges(meter);
  const showWebhooks = createWebhookGauges(meter);
  const readAt = meter.createGauge(
    'carillon_figures_read_timestamp_seconds',
    'float',
    undefined,
    'When the figures of all campaigns were last read, by the clock of the worker.',
  );
  const fault = meter.createGauge(
    'carillon_database_fault',
    'float',
    undefined,
    `Whether the database cannot be used, by cause: 1 or 0. standby: ${standbyText}. other: the log of the worker names it.`,
  );
  const showFault = (error?: unknown): void => {
    for (const cause of ['standby', 'other'])
      fault.set(error !== undefined && (cause === 'standby') === error instanceof StandbyError ? 1 : 0, { cause });
  };
  let lastAt: number | null = null;
  const read = async (): Promise<void> => {
    // Ages are still shown while the service does not answer.
    const clock = await serviceClock().catch(() => realClock());
    const now = Math.round(clock.now());
    for (const id of await listWatched(store.db, (lastAt ?? now) - lookBackMs)) {
      const campaign = await findCampaign(store.db, id);
      if (campaign !== undefined) show(await readFigures(store.db, campaign, now));
    }
    showWebhooks(await listWithWaiting(store.db), now);
    lastAt = now;
    readAt.set(Date.now() / 1000);
    showFault();
  };
  const stopping = new AbortController();
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const begunAt = performance.now();
      await read().catch((error: unknown) => {
        showFault(error);
        const { name, code = '' } = error as { name?: string; code?: string };
        logger.warn({ error: `${name ?? 'error'} ${code}`.trim() }, 'the figures for the metrics could not be read');
      });
      const restMs = Math.max(readEveryMs, restPerWork * (performance.now() - begunAt));
      await sleep(restMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const done = work();
  return {
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

/** Counts 429 answers; call the result for every request. */
export function countRateLimited(meter: MetricMeter): (request: { method: string; status: number | null }) => void {
  const counter = meter.createCounter('carillon_rate_limited', undefined, 'Answers of the service with status 429.');
  for (const request of ['dial', 'read']) counter.add(0, { request });
  return ({ method, status }) => {
    if (status === 429) counter.add(1, { request: method === 'GET' ? 'read' : 'dial' });
  };
}
