import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { Activities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { purposeScope } from '../../src/rules/consent.ts';
import { storeAccountRules } from '../../src/ledger/limits/house.ts';
import { addSuppressions } from '../../src/ledger/rows/suppressions.ts';
import { EditRefusedError } from '../../src/ledger/people/edit-refusal.ts';
import { RecipientEditor } from '../../src/ledger/people/edit-recipients.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { RedialRefusedError, resolveUnresolved } from '../../src/ledger/people/resolve.ts';
import { withdrawRecipients } from '../../src/ledger/people/withdraw-recipients.ts';
import type { ControlChange } from '../../src/ledger/control-requests.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { asActivity } from '../support/activity-context.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import type { CampaignLoop } from '../world/campaign-loop.ts';
import { addedTo, editOf, houseRules, purpose, rulesOf, type Scenario } from './scenarios.ts';
import type { Sending } from './console/person.ts';
import type { Strike } from '../world/faults.ts';

/** What a second worker or an operator may do beside a worker. */
export const acts = ['plan', 'submit', 'sweep', 'close round', 'suppress', 'resolve', 'update', 'withdraw', 'pause'] as const;
/** Ends a campaign for good. Only seeds draw it: most rows would not be reached. */
export const actsThatEnd = ['drain', 'cancel'] as const satisfies readonly ControlChange[];

/** Only beside some campaigns (`Scenario.acts`). */
export const specialActs = ['add', 'revoke', 'set house rules'] as const;

/** What a service that reports its calls does, at the API alone. */
export type ActOfService = 'webhook';

export type Act = (typeof acts | typeof actsThatEnd | typeof specialActs)[number] | ActOfService;

export const actsOf = (api: ServiceApi): readonly [Act, ...Act[]] => (api === 'contract' ? acts : [...acts, 'webhook']);

/** Long enough for the campaign to go on meanwhile. */
export const pauseMs = 3 * minuteMs;

export const actsOfPersons: readonly Act[] = ['suppress', 'resolve', 'update', 'withdraw', 'pause'];

/** Progress of a campaign, and the operators' acts. Indexes are of the effect log. */
export interface Standing {
  campaignId: string;
  /** The batch being submitted, and the last one. */
  loop: Pick<CampaignLoop, 'round' | 'submitted' | 'submitting'>;
  rows: UploadRow[];
  /** Numbers that must not be dialled from an effect on. */
  stopped: Map<string, number>;
  withdrawn: Set<string>;
  /** When the API reported an added row as listed, by id. */
  added: Map<string, number>;
  /** When the account rules take effect; null: none set. */
  houseSince: number | null;
  /** When others than the sample may be called; null: undecided. */
  pilotDecided: number | null;
  /** Numbers that operators tried to stop without the API. */
  tried: Set<string>;
  /** Requests to pause or resume, as the workflow counts them. */
  wishes: number;
  pausing: number | null;
  paused: { from: number; resumeAt: number } | null;
  pauses: { from: number; to: number }[];
  /** When it last resumed: earlier pauses and ends are over. */
  wentOnAt: number;
  /** When dialling ended; null: it goes on. */
  ended: number | null;
  redials: number;
  /** Why it paused by itself, each time. */
  presses: string[];
  doubted: Set<string>;
}

export interface ActContext {
  deps: ActivityDependencies;
  activities: Activities;
  sandbox: RunningSandbox;
  standing: Standing;
  scenario: Scenario;
  who: string;
  mark: () => number;
}

const work: Readonly<Record<Exclude<Act, ActOfService>, (context: ActContext) => Promise<unknown>>> = {
  plan: ({ activities, standing: { campaignId, loop } }) =>
    activities.plan({ campaignId, round: loop.round, batchNumber: loop.submitted + 1 }),

  /** The batch under way, or the last one again, like a worker believed dead. */
  async submit({ activities, standing }) {
    const batchId = batchOf(standing);
    return batchId === null ? undefined : activities.submit({ batchId });
  },

  async sweep({ deps, scenario }) {
    const { agentId, timing } = rulesOf(scenario);
    return sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  },

  'close round': ({ activities, standing: { campaignId, loop } }) => activities.closeRound({ campaignId, round: loop.round }),

  /** The second recipient, or the only one, is never called again. */
  async suppress({ deps, standing, mark }) {
    const e164 = (standing.rows[1] ?? standing.rows[0])?.e164 ?? '';
    standing.tried.add(e164);
    const entry = { e164, scope: 'account', source: 'person', reason: null, expiresAt: null };
    await addSuppressions(deps.store, [entry], deps.nowReal());
    if (!standing.stopped.has(e164)) standing.stopped.set(e164, mark());
  },

  /** The operator knows the service's calls and redials none of them, unless the scenario overrides it. */
  async resolve(context) {
    const { deps, standing, mark } = context;
    const { campaignId } = standing;
    const word = await resolveWord(context);
    try {
      const said = await resolveUnresolved(deps.store, { campaignId, now: deps.nowReal() }, word);
      if (word !== 'redial' || said.recipients === 0) return;
      standing.redials += 1;
      standing.ended = null;
      standing.wentOnAt = mark();
    } catch (error) {
      if (!(error instanceof RedialRefusedError)) throw error;
    }
  },

  async update(context) {
    const { deps, scenario, standing } = context;
    const options = { campaignId: standing.campaignId, restore: false, dryRun: false };
    const upload = editOf(scenario);
    const editor = new RecipientEditor(deps.store, options);
    const results = await unlessEnded(async () => [
      ...(await editor.apply(upload, deps.nowReal())),
      ...(await editor.finish(deps.nowReal())),
    ]);
    const done = (results ?? []).filter(({ result }) => result !== 'failed');
    takeRows(
      done.flatMap(({ row, campaignRow }) => {
        const given = upload.find((each) => each.row === row);
        return given === undefined ? [] : [{ row: given, campaignRow }];
      }),
      context,
    );
  },

  async withdraw({ deps, standing, mark }) {
    const { campaignId, rows } = standing;
    const last = rows.at(-1);
    if (last === undefined) return;
    standing.tried.add(last.e164);
    const options = { campaignId, note: null, dryRun: false, now: deps.nowReal() };
    const results = await unlessEnded(() => withdrawRecipients(deps.store, options, { ids: [last.externalId] }));
    // Where the service withdraws calls, the request waits behind an open call.
    const [{ result } = { result: null }] = results ?? [];
    if (result === 'withdrawn' || result === 'withdrawing') standing.stopped.set(last.e164, mark());
  },

  async pause({ deps, activities, standing, mark }) {
    standing.pausing ??= standing.wishes += 1;
    const changed = await wish(activities, standing, { change: 'pause', number: standing.pausing });
    standing.pausing = null;
    if (changed) standing.paused ??= { from: mark(), resumeAt: deps.nowReal() + pauseMs };
  },

  /** Like a web form, resent until it is answered. */
  async add(context) {
    const { deps, scenario, standing, mark } = context;
    const row = addedTo(scenario);
    const editor = new RecipientEditor(deps.store, { campaignId: standing.campaignId, restore: false, dryRun: false, adds: true });
    const results = await unlessEnded(async () => [
      ...(await editor.apply([row], deps.nowReal())),
      ...(await editor.finish(deps.nowReal())),
    ]);
    const taken = (results ?? []).filter(({ result }) => result !== 'failed');
    takeRows(
      taken.map(({ campaignRow }) => ({ row, campaignRow })),
      context,
    );
    if (taken.length > 0 && !standing.added.has(row.externalId)) standing.added.set(row.externalId, mark());
  },

  /** The second recipient, or the only one. */
  async revoke({ deps, standing, mark }) {
    const e164 = (standing.rows[1] ?? standing.rows[0])?.e164 ?? '';
    standing.tried.add(e164);
    const entry = { e164, scope: purposeScope(purpose), source: 'person', reason: null, expiresAt: null };
    await addSuppressions(deps.store, [entry], deps.nowReal());
    if (!standing.stopped.has(e164)) standing.stopped.set(e164, mark());
  },

  async 'set house rules'({ deps, standing, mark }) {
    await storeAccountRules(deps.store, { text: JSON.stringify(houseRules), rules: houseRules, now: deps.nowReal() });
    standing.houseSince ??= mark();
  },

  drain: (context) => end(context, 'drain'),
  cancel: (context) => end(context, 'cancel'),
};

async function end({ activities, standing, mark }: ActContext, change: (typeof actsThatEnd)[number]): Promise<void> {
  standing.wishes += 1;
  if (await wish(activities, standing, { change, number: standing.wishes })) standing.ended ??= mark();
}

/** The decision of an operator who knows the service's calls; redials at most once. */
export async function resolveWord({ deps, sandbox, standing, scenario }: ActContext): Promise<'redial' | 'give_up'> {
  const unresolved = await deps.store.db
    .selectFrom('recipients')
    .select(['recipient_id', 'e164'])
    .where('campaign_id', '=', standing.campaignId)
    .where('outcome', '=', 'unresolved')
    .execute();
  for (const { recipient_id: id } of unresolved) standing.doubted.add(id);
  const called = new Set(sandbox.calls().map(({ to }) => to));
  const { word = unresolved.every(({ e164 }) => !called.has(e164 ?? '')) ? 'redial' : 'give_up' } = scenario;
  return standing.redials === 0 ? word : 'give_up';
}

/** Marks rows of an upload as listed. A repeat reports no change. */
export function takeRows(
  taken: readonly { row: UploadRow; campaignRow: number | null }[],
  { standing: { rows, stopped }, mark }: ActContext,
): void {
  for (const { row, campaignRow } of taken) {
    if (rows.some(({ externalId, e164 }) => externalId === row.externalId && e164 === row.e164)) continue;
    const before = rows.find(({ externalId }) => externalId === row.externalId);
    if (before !== undefined) stopped.set(before.e164, mark());
    rows.push({ ...row, row: campaignRow ?? row.row });
  }
}

export function batchOf({ campaignId, loop: { round, submitted, submitting } }: Standing): string | null {
  return submitting?.batchId ?? (submitted === 0 ? null : `${campaignId}/${round}/${submitted}`);
}

export async function wish(
  activities: Activities,
  { campaignId }: Standing,
  { change, number, ...known }: { change: ControlChange; number: number; pausesSeen?: number },
): Promise<boolean> {
  const told = { campaignId, change, wish: { ...known, id: `run/${number}`, run: 'run', number } };
  const { changed } = await asActivity(() => activities.changeState(told), { info: { attempt: 1 } });
  return changed;
}

export function actOf(act: Exclude<Act, ActOfService>, context: ActContext): Promise<unknown> {
  return work[act](context);
}

async function unlessEnded<Result>(edit: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await edit();
  } catch (error) {
    if (error instanceof EditRefusedError) return undefined;
    throw error;
  }
}

export interface Intervention {
  /** Operation of the campaign, from 1. */
  step: number;
  /** Effect of the operation, from 0. */
  nth: number;
  strike?: Strike;
  statement?: number;
  /** Shifts the machine's clock for 15 minutes. */
  clockByMs?: number;
  /** What a second process does, start to end. */
  beside?: {
    act: Act;
    /** Through the API; omitted: by the program itself. */
    sending?: Sending;
    /** How long the first one has stalled. */
    lateMs?: number;
    /** Runs when the first one has all but committed, and holds its locks. */
    inside?: boolean;
    /** Stalls at this effect until the first one's operation is over. */
    stallsAt?: number;
    /** What strikes the second one at which effect; then another process repeats it. */
    struck?: { nth: number; strike: Strike };
  };
}

export type Plan = (at: { step: number; operation: string; nth: number }) => Intervention | null;
