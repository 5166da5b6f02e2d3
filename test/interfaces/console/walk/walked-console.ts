import { readConfig } from '../../../../src/shared/config.ts';
import { createSchedule } from '../../../../src/operations/control/schedules/create.ts';
import { openTemporal } from '../../../../src/operations/control/control.ts';
import { scheduleIdOf, type Recurrence } from '../../../../src/temporal/schedules.ts';
import { setCallback } from '../../../../src/ledger/people/callbacks.ts';
import { listTokens } from '../../../../src/ledger/console/tokens.ts';
import { addSuppressions } from '../../../../src/ledger/rows/suppressions.ts';
import { steerWebhook } from '../../../../src/ledger/webhooks/registry.ts';
import { addTestWebhook, secret, webhookId } from '../../../shared/hooks/webhook-world.ts';
import { ServiceClock } from '../../../../src/sandbox/core/clock/clock.ts';
import { emptyDatabase, openAt } from '../../../ledger/test-stores.ts';
import type { StoreLocation } from '../../../../src/ledger/open-ledger.ts';
import { apiKey, startPageSandbox } from '../../../sandbox/page/window.ts';
import { hourMs } from '../../../support/campaign-rules.ts';
import { sharedTemporal } from '../../../support/temporal-for-tests.ts';
import { ConsoleWorld } from '../console-world.ts';
import { rehearsedReport } from '../rehearsed-report.ts';
import { DraftWorld } from '../draft-world.ts';
import { documentsOf } from './page-addresses.ts';
import { makePicturedCampaigns, picturedAt } from '../pictured-campaigns.ts';
import type { Store } from '../../../../src/ledger/tx.ts';

const dayMs = 24 * hourMs;
/** A second at this speed moves no whole millisecond. */
const stillSpeed = 1e-9;
const calledRow = 18;
const heldHookId = '00c0ffee0002';

const wideList = `phone,${Array.from({ length: 24 }, (_, i) => `A long name of column ${i + 2}`).join(',')}\n+12125550131,${'some words,'.repeat(23)}x\n`;

const cron = '0 9 1 1 *';
const always = { everyMs: null, startAt: null, endAt: null, keepSkipped: false, catchUpMs: 600_000, note: null };
const yearly: Recurrence = { ...always, cron, when: `cron ${cron}`, timeZone: 'America/New_York' };

/**
 * A working day with campaigns in every state, rows in doubt, webhooks, schedules, a do-not-call list and drafts. `location`: an empty
 * database; default: a new one. `examples`: by the router's address, where to see each document.
 */
export async function startWalkedConsole(location?: StoreLocation) {
  const store = await openAt(location ?? (await emptyDatabase('sqlite')));
  await makePicturedCampaigns(store);
  await promiseCallbacks(store);
  const target = await sharedTemporal();
  const environment = { TEMPORAL_ADDRESS: target.address, TEMPORAL_NAMESPACE: target.namespace };
  const settings = {
    ...environment,
    CARILLON_QUEUE_PREFIX: `walk-${store.ledgerId}`,
    SVC_BASE_URL: await startService(store),
    SVC_API_KEY: apiKey,
    CARILLON_HOOK_SECRET: secret,
  };
  const console = await ConsoleWorld.over(store, settings, (limitMs) => openTemporal({}, readConfig(settings), limitMs));
  console.api.at = picturedAt;
  console.api.context.quickenSandbox = () => {};
  await addSuppressions(
    store,
    [
      { e164: '+12125550100', scope: 'account', source: 'person', reason: 'asked for it', expiresAt: null },
      { e164: '+12125550101', scope: 'reminders', source: 'import:a.csv', reason: null, expiresAt: picturedAt + dayMs },
    ],
    picturedAt,
  );
  await addTestWebhook(store, 'https://crm.example.com/a-rather-long-path/of-an-address/that-has-no-blank');
  await addTestWebhook(store, 'env://CARILLON_URL_CRM', { webhookId: heldHookId, campaignId: 'reminders', types: ['row.ended'] }); // prettier-ignore
  const held = { webhookId: heldHookId, by: 'person', now: picturedAt, nowReal: picturedAt };
  await steerWebhook(store, 'pause', held);
  const kept = JSON.stringify({ breaker: { min_calls: 30 } });
  await store.db.updateTable('campaigns').set({ file: kept }).where('campaign_id', '=', 'reminders').execute();
  await scheduleOf(console, 'weekly', yearly);
  await scheduleOf(console, 'held', { ...yearly, note: 'until the list is mended' });
  await tell(console, 'POST /schedules/held/pause', { note: 'the list is being mended' });
  await tell(console, 'POST /schedules/weekly/trigger', {});
  await orderTokens(store);
  return { console, examples: await examplesOf(new DraftWorld(console)) };
}

/** Rows made while the clock stops have one instant, which orders nothing. */
async function orderTokens({ db }: Store): Promise<void> {
  for (const [index, role] of ['read', 'operate', 'admin'].entries()) {
    const made = { created_real: picturedAt - hourMs + index };
    await db.updateTable('tokens').set(made).where('name', '=', `${role} console`).execute();
  }
}

async function orderDrafts({ db }: Store, paths: readonly string[]): Promise<void> {
  for (const [index, path] of paths.entries()) {
    const touched = { touched_real: picturedAt - paths.length + index };
    await db.updateTable('drafts').set(touched).where('draft_id', '=', path.replace('/new/', '')).execute();
  }
}

/** Its clock stops; it knows the first call to `calledRow`. Returns its address. */
async function startService(store: Store): Promise<string> {
  const clock = new ServiceClock({ speed: stillSpeed, epochMs: picturedAt - hourMs });
  const sandbox = await startPageSandbox({ clock });
  await sandbox.batch('+12125550100');
  await sandbox.advance(hourMs / 1000);
  const { body } = await sandbox.ask('GET', '/v1/convai/conversations');
  const attempts = store.db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .select('attempts.attempt_id')
    .where('recipients.campaign_id', '=', 'reminders')
    .where('recipients.row_number', '=', calledRow)
    .where('attempts.number', '=', 1);
  await store.db
    .updateTable('conversations')
    .set({ conversation_id: body.conversations[0].conversation_id })
    .where('attempt_id', 'in', attempts)
    .execute();
  return sandbox.url;
}

/** One callback by an operator, and one request of an unknown time. */
async function promiseCallbacks(store: Store): Promise<void> {
  const wish = { campaignId: 'reminders', row: 288, by: 'Dana', now: picturedAt };
  await setCallback(store, wish, { instant: picturedAt + 5 * hourMs });
  const unclear = { state: 'unclear', reason: 'not_understood', said: 'when the children are in bed' } as const;
  const noTime = { due_at: null, until: null, local: null };
  const made = { from_attempt: `reminders/${calledRow}/1`, made_at: picturedAt, made_by: null, kept_by: null, ended_at: null };
  const where = { promise_id: 'pictured', campaign_id: 'reminders', recipient_id: `reminders/${calledRow}`, e164: '+12125550117' };
  await store.db
    .insertInto('promises')
    .values({ ...where, ...unclear, ...noTime, ...made })
    .execute();
}

async function tell({ api }: ConsoleWorld, request: `POST ${string}`, body: object): Promise<void> {
  const answer = await api.ask(request, { body });
  if (answer.status >= 400) throw new Error(`${request}: ${JSON.stringify(answer.body)}`);
}

function scheduleOf({ api }: ConsoleWorld, campaignId: string, recurrence: Recurrence) {
  const { config } = api.context;
  const schedule = {
    scheduleId: scheduleIdOf(config.CARILLON_QUEUE_PREFIX, campaignId),
    campaignId,
    filePath: `/srv/campaigns/${campaignId}.yaml`,
    content: '',
    listSource: 'lists/{{ date }}.csv',
    accountId: config.SVC_BASE_URL,
    createdAt: picturedAt,
  };
  return createSchedule(api.context, schedule, recurrence);
}

/** Each document's address with this ledger's ids; `more`: other ids, or several that look different. */
async function examplesOf(drafts: DraftWorld): Promise<Readonly<Record<string, readonly string[]>>> {
  const { api } = drafts.console;
  const begun = await drafts.begin();
  const wide = await drafts.begin(wideList);
  const ready = await drafts.prepare();
  const copied = await drafts.begin(wideList, { path: '/new?copy=reminders' });
  api.context.rehearse = async () => rehearsedReport;
  await drafts.console.post(`${ready}/rehearsal`, {});
  await orderDrafts(api.store, [begun, wide, ready, copied]);
  const reminders = '/campaigns/reminders';
  const rows = `${reminders}/rows`;
  const more: Readonly<Record<string, readonly string[]>> = {
    '/': ['/', '/?show=ended'],
    '/campaigns/:campaign': ['reminders', 'survey', 'renewals', 'spring-offers'].map((id) => `/campaigns/${id}`),
    '/campaigns/:campaign/events': [`${reminders}/events`, '/campaigns/renewals/events'],
    '/campaigns/:campaign/figures': [`${reminders}/figures`, '/campaigns/spring-offers/figures'],
    '/campaigns/:campaign/rows': [
      ...['', '?sort=column-1&columns=-&person=18', '?sort=last&outcome=cannot'].map((query) => `${rows}${query}`),
      ...['state=done', 'outcome=undialable'].map((query) => `/campaigns/survey/rows?${query}`),
    ],
    '/campaigns/:campaign/rows/:row': [`${rows}/${calledRow}`, `${rows}/1`, '/campaigns/spring-offers/rows/1'],
    '/campaigns/:campaign/rows/:row/withdraw': [`${rows}/290/withdraw`],
    '/campaigns/:campaign/rows/:row/callback': [`${rows}/290/callback`, '/campaigns/survey/rows/1/callback'],
    '/campaigns/:campaign/rows/:row/cancel-callback': [288, 290].map((row) => `${rows}/${row}/cancel-callback`),
    '/campaigns/:campaign/callbacks': [`${reminders}/callbacks`, '/campaigns/survey/callbacks'],
    '/campaigns/:campaign/rows/:row/resolve': ['1/resolve?decision=redial', '2/resolve?decision=give_up', `${calledRow}/resolve`].map(
      (at) => `${rows}/${at}`,
    ),
    '/campaigns/:campaign/unresolved': [`${reminders}/unresolved`, '/campaigns/renewals/unresolved'],
    '/campaigns/:campaign/resolve': ['redial', 'give_up'].map((decision) => `${reminders}/resolve?decision=${decision}`),
    '/campaigns/:campaign/results': [`${reminders}/results`, '/campaigns/survey/results'],
    '/campaigns/:campaign/resume': ['/campaigns/renewals/resume'],
    '/campaigns/:campaign/cancel': ['/campaigns/spring-offers/cancel'],
    '/campaigns/:campaign/fix': ['/campaigns/survey/fix', `${reminders}/fix`],
    '/campaigns/:campaign/retry': ['/campaigns/survey/retry', `${reminders}/retry`],
    '/do-not-call': ['', '?kind=single', '?kind=asked'].map((query) => `/do-not-call${query}`),
    '/schedules/:campaign/trigger': ['/schedules/held/trigger'],
    '/schedules/:campaign/resume': ['/schedules/held/resume'],
    '/webhooks/:webhook/resume': [`/webhooks/${heldHookId}/resume`],
    '/new': ['/new', '/new?copy=reminders'],
    '/new/:draft': [wide, begun, ready, copied],
    '/new/:draft/rehearsal': [ready, begun].map((path) => `${path}/rehearsal`),
  };
  const draft = ready.replace('/new/', '');
  const token = (await listTokens(api.store))[0]?.tokenId ?? '';
  const names: Record<string, string> = { campaign: 'reminders', row: String(calledRow), call: '1', webhook: webhookId, draft, token };
  const filled = (path: string) =>
    path.replace('/schedules/:campaign', '/schedules/weekly').replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? name);
  return Object.fromEntries(documentsOf(api.app).map((path) => [path, more[path] ?? [filled(path)]]));
}
