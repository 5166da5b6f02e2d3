import { foreseen } from '../../shared/input/errors.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { span } from '../../shared/input/figures.ts';
import { findUnresolved, readDoubtfulRows, type DoubtfulRow } from '../../ledger/doubt/doubtful-rows.ts';
import type { DecisionLine, DoubtDecision } from '../../ledger/people/decision-checks.ts';
import { giveUpOpen, resolveUnresolved, type Resolution } from '../../ledger/people/resolve.ts';
import { resolveDoubt, type DoubtResolution } from '../../ledger/people/resolve-doubt.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { requireService, startCampaign } from '../../temporal/start-campaign.ts';
import { sendUpdate } from './campaign-message.ts';
import { connected, type Control, type Session } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readClock } from './service.ts';

/** Thrown when open calls stay, because the service may still report them. */
export class StillHeardOfError extends foreseen('StillHeardOfError', false) {}

/** How redialled rows got going; null: none, or a running campaign sees them now. */
export type SetOff = { kind: 'round'; round: number } | { kind: 'paused' } | null;

interface Deciding {
  campaign: Campaign;
  clock: ServiceClock;
}

/** Decisions need the service's clock. Throws UnknownCampaignError and ServiceUnusableError. */
async function openDecision({ config, store }: Control, campaignId: string): Promise<Deciding> {
  return { campaign: await requireCampaign(store, campaignId), clock: await readClock(config) };
}

/** Precheck. Throws OtherServiceError, UnknownCampaignError and ServiceUnusableError when no redial is possible. */
export async function requireRedialable(control: Control, campaignId: string): Promise<void> {
  const { campaign } = await openDecision(control, campaignId);
  requireService(control.config, campaign);
}

/** Rows in doubt (null: all), each with its candidate records. Throws as `requireRedialable`. */
export async function readDoubtful(control: Control, campaignId: string, rows: readonly number[] | null): Promise<DoubtfulRow[]> {
  const { campaign, clock } = await openDecision(control, campaignId);
  const { db } = control.store;
  const recipients = await findUnresolved(db, campaignId, { rows });
  return readDoubtfulRows(db, campaign, { recipients, now: Math.round(clock.now()) });
}

/** About one record, or, with null, the row as a whole. */
export interface RowDecision {
  row: number;
  decision: DoubtDecision;
  conversationId: string | null;
  /** Where the decision was written, for messages. */
  place: string;
}

/** Lines for `decide`; null when the row is not in doubt, or was given up. Throws as `readDoubtful`. */
export async function readRowDecision(
  control: Control,
  campaignId: string,
  { row, decision, conversationId, place }: RowDecision,
): Promise<DecisionLine[] | null> {
  const [doubtful] = await readDoubtful(control, campaignId, [row]);
  if (doubtful === undefined) return null;
  const calls = doubtful.calls.flatMap(({ attempt, records }): Call[] => {
    const ids = records.length === 0 ? [null] : records.map((record) => record.conversationId);
    return ids.map((id) => ({ attemptId: attempt.attempt_id, conversationId: id }));
  });
  const shown: Call[] = calls.length === 0 ? [{ attemptId: null, conversationId: null }] : calls;
  // A record not among the candidates is assigned to the last call.
  const meant = calls.filter((call) => call.conversationId === conversationId);
  const last = { attemptId: calls.at(-1)?.attemptId ?? null, conversationId };
  const named = meant.length > 0 ? meant.slice(0, decision === 'theirs' ? 1 : undefined) : [last];
  const lines = conversationId === null ? shown : named;
  return lines.map((call) => ({ place, row, ...call, decision }));
}

type Call = Pick<DecisionLine, 'attemptId' | 'conversationId'>;

/**
 * Carries out decisions about rows in doubt, all or none, and starts redials. Repeating it changes nothing. Throws, before any change,
 * DecisionsRefusedError with `problems`, RedialRefusedError, as `requireRedialable`, and, for redials, as `temporal`. CampaignMessageError
 * and `startCampaign`'s errors come after the write: the rows wait for `startCampaign` or the next plan.
 */
export async function decide(
  control: Control,
  campaignId: string,
  lines: readonly DecisionLine[],
): Promise<{ resolution: DoubtResolution; setOff: SetOff }> {
  const deciding = await openDecision(control, campaignId);
  const redials = lines.some(({ decision }) => decision === 'redial');
  const session = redials ? await openRedial(control, deciding) : null;
  const at = { campaignId, now: Math.round(deciding.clock.now()) };
  const resolution = await resolveDoubt(control.store, at, lines);
  const moves = session !== null && resolution.redialled > 0;
  return { resolution, setOff: moves ? await setOffRows(session, deciding) : null };
}

/** Connected before the write, so that redials can start. */
async function openRedial(control: Control, { campaign }: Deciding): Promise<Session> {
  requireService(control.config, campaign);
  return connected(control);
}

/** Starts the next round of an ended campaign, or replans a running one. */
async function setOffRows(session: Session, { campaign: before, clock }: Deciding): Promise<SetOff> {
  const { config, store, temporal } = session;
  const { campaignId } = before;
  const campaign = (await findCampaign(store.db, campaignId)) ?? before;
  if (hasEnded(campaign)) {
    const start = { config, store, client: temporal.client, now: Math.round(clock.now()) };
    const started = await startCampaign(start, campaignId);
    return started === undefined ? null : { kind: 'round', round: started.round.round };
  }
  if (campaign.state === 'paused') return { kind: 'paused' };
  if (campaign.state === 'running') await sendUpdate(session, { campaign, wish: 'look' });
  return null;
}

interface ResolveInput {
  campaignId: string;
  decision: 'redial' | 'give_up';
  /** Also gives up open calls that can no longer be clarified. */
  open: boolean;
}

export interface Resolved {
  resolution: Resolution;
  openGivenUp: number;
  setOff: SetOff;
  /** Real ms until the youngest batch still too young can be decided. */
  decidableInMs: number | null;
}

/**
 * Applies one decision to all rows that can be decided together; rows with indistinguishable records stay. Repeating it changes nothing.
 * Throws StillHeardOfError, RedialRefusedError, and as `decide`.
 */
export async function resolveAll(control: Control, { campaignId, decision, open }: ResolveInput): Promise<Resolved> {
  const deciding = await openDecision(control, campaignId);
  const session = decision === 'redial' ? await openRedial(control, deciding) : null;
  const { clock } = deciding;
  const now = Math.round(clock.now());
  const openGivenUp = open ? await giveUpOpenCalls(control, deciding, now) : 0;
  const resolution = await resolveUnresolved(control.store, { campaignId, now }, decision);
  const setOff = session === null ? null : await setOffRows(session, deciding);
  const { decidableAt } = resolution;
  const decidableInMs = decidableAt === null ? null : clock.toRealMs(decidableAt - clock.now());
  return { resolution, openGivenUp, setOff, decidableInMs };
}

/** Answers how many. Throws StillHeardOfError, changing nothing, when the service still reports its calls. */
async function giveUpOpenCalls({ store }: Control, { campaign, clock }: Deciding, now: number): Promise<number> {
  const given = await giveUpOpen(store, { campaignId: campaign.campaignId, now }, campaign.rules.agentId);
  if (given.kind === 'given_up') return given.calls;
  const ago = span(clock.toRealMs(now - given.since));
  throw new StillHeardOfError(
    `Nothing was given up: a call was placed or the service's records were read ${ago} ago, so results may still come. Open calls can be given up once the records could not be read for an hour.`,
  );
}
