import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { Activities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { purposeScope } from '../../src/rules/consent.ts';
import { setHouse } from '../../src/ledger/limits/house.ts';
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

/** What a worker or a person may do beside what another one does. */
export const acts = ['plan', 'submit', 'sweep', 'close round', 'suppress', 'resolve', 'update', 'withdraw', 'pause'] as const;
/** What ends a campaign for good. Seeds draw it; by design it would keep most of a campaign from being reached. */
export const actsThatEnd = ['drain', 'cancel'] as const satisfies readonly ControlChange[];

/** Done beside only some campaigns (`Scenario.acts`). */
export const specialActs = ['add', 'revoke', 'set house rules'] as const;

/** What a service that reports its calls does, at the API alone. */
export type ActOfService = 'webhook';

export type Act = (typeof acts | typeof actsThatEnd | typeof specialActs)[number] | ActOfService;

export const actsOf = (api: ServiceApi): readonly [Act, ...Act[]] => (api === 'contract' ? acts : [...acts, 'webhook']);

/** Long enough that the campaign would go on meanwhile. */
export const pauseMs = 3 * minuteMs;

/** Those of persons. */
export const actsOfPersons: readonly Act[] = ['suppress', 'resolve', 'update', 'withdraw', 'pause'];

/** How far a campaign has come, and what persons have done. Indexes are of the effect log. */
export interface Standing {
  campaignId: string;
  /** What is being submitted, and what was. */
  loop: Pick<CampaignLoop, 'round' | 'submitted' | 'submitting'>;
  /** The list as it is now. */
  rows: UploadRow[];
  /** Numbers that nobody may dial from an effect on. */
  stopped: Map<string, number>;
  /** Numbers whose row the API said was withdrawn. */
  withdrawn: Set<string>;
  /** When the API said that an added row is on the list, by its id. */
  added: Map<string, number>;
  /** From when on the house rules hold; null: nobody has set any. */
  houseSince: number | null;
  /** From when on others than the sample may be called; null: undecided. */
  pilotDecided: number | null;
  /** Numbers that persons tried to stop by the program itself, heard of or not. */
  tried: Set<string>;
  /** How often persons wished for a pause or its end, as the workflow counts. */
  wishes: number;
  /** The wish that is still to be granted; one that comes again is the same. */
  pausing: number | null;
  paused: { from: number; resumeAt: number } | null;
  pauses: { from: number; to: number }[];
  /** When it was last made to go on: earlier pauses and ends are over. */
  wentOnAt: number;
  /** From when on nobody is dialled; null: nobody has ended it, or its rows are dialled again. */
  ended: number | null;
  redials: number;
  /** Why it had paused by itself, each time. */
  presses: string[];
  doubted: Set<string>;
}

export interface ActContext {
  deps: ActivityDependencies;
  activities: Activities;
  sandbox: RunningSandbox;
  standing: Standing;
  scenario: Scenario;
  /** Which process does it. */
  who: string;
  mark: () => number;
}

const work: Readonly<Record<Exclude<Act, ActOfService>, (context: ActContext) => Promise<unknown>>> = {
  plan: ({ activities, standing: { campaignId, loop } }) =>
    activities.plan({ campaignId, round: loop.round, batchNumber: loop.submitted + 1 }),

  /** The batch under way, or the last one again, as a worker does that was thought dead. */
  async submit({ activities, standing }) {
    const batchId = batchOf(standing);
    return batchId === null ? undefined : activities.submit({ batchId });
  },

  async sweep({ deps, scenario }) {
    const { agentId, timing } = rulesOf(scenario);
    return sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  },

  'close round': ({ activities, standing: { campaignId, loop } }) => activities.closeRound({ campaignId, round: loop.round }),

  /** The second person, or the only one, is never called again. */
  async suppress({ deps, standing, mark }) {
    const e164 = (standing.rows[1] ?? standing.rows[0])?.e164 ?? '';
    standing.tried.add(e164);
    const entry = { e164, scope: 'account', source: 'person', reason: null, expiresAt: null };
    await addSuppressions(deps.store, [entry], deps.nowReal());
    if (!standing.stopped.has(e164)) standing.stopped.set(e164, mark());
  },

  /** An operator who knows whom the service called has nobody called twice, unless the scenario has another word. */
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
    // Where the service gives calls back, the wish stands behind an open call.
    const [{ result } = { result: null }] = results ?? [];
    if (result === 'withdrawn' || result === 'withdrawing') standing.stopped.set(last.e164, mark());
  },

  async pause({ deps, activities, standing, mark }) {
    standing.pausing ??= standing.wishes += 1;
    const changed = await wish(activities, standing, { change: 'pause', number: standing.pausing });
    standing.pausing = null;
    if (changed) standing.paused ??= { from: mark(), resumeAt: deps.nowReal() + pauseMs };
  },

  /** As a web form does, which is sent again until it is answered. */
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

  /** The second person, or the only one. */
  async revoke({ deps, standing, mark }) {
    const e164 = (standing.rows[1] ?? standing.rows[0])?.e164 ?? '';
    standing.tried.add(e164);
    const entry = { e164, scope: purposeScope(purpose), source: 'person', reason: null, expiresAt: null };
    await addSuppressions(deps.store, [entry], deps.nowReal());
    if (!standing.stopped.has(e164)) standing.stopped.set(e164, mark());
  },

  async 'set house rules'({ deps, standing, mark }) {
    await setHouse(deps.store, { text: JSON.stringify(houseRules), rules: houseRules, now: deps.nowReal() });
    standing.houseSince ??= mark();
  },

  drain: (context) => end(context, 'drain'),
  cancel: (context) => end(context, 'cancel'),
};

async function end({ activities, standing, mark }: ActContext, change: (typeof actsThatEnd)[number]): Promise<void> {
  standing.wishes += 1;
  if (await wish(activities, standing, { change, number: standing.wishes })) standing.ended ??= mark();
}

/** The word of an operator who knows whom the service called; redialled once at most. */
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

/** Rows taken from an upload are on the list. A repeat is told that nothing had to be changed. */
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

/** Answers whether it was granted. */
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
  /** Which operation of the campaign, from 1. */
  step: number;
  /** Which effect of it, from 0. */
  nth: number;
  /** What befalls the process. */
  strike?: Strike;
  /** The statement that the database refuses. */
  statement?: number;
  /** The machine's clock is set by this for a quarter of an hour. */
  clockByMs?: number;
  /** What a second process does, from beginning to end. */
  beside?: {
    act: Act;
    /** A person's, through the API; left out: by the program itself. */
    sending?: Sending;
    /** How long the first one has stood still. */
    lateMs?: number;
    /** It comes when the first one has all but committed, and holds its locks. */
    inside?: boolean;
    /** It stands still at this effect until the first one's operation is over. */
    stallsAt?: number;
    /** What befalls the second one, at which effect; somebody then begins again. */
    struck?: { nth: number; strike: Strike };
  };
}

export type Plan = (at: { step: number; operation: string; nth: number }) => Intervention | null;
