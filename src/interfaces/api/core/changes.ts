import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { actFor, appendEvents } from '../../../ledger/events.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import { abandonKey, claimKey, freeKey, holdKey, keepAnswer } from '../../../ledger/console/idempotency-keys.ts';
import { holderOf, serviceNow, type ApiContext } from './app.ts';
import { ProblemError, problemOf, type Problem } from './problem.ts';

/** What makes a request another one under the same key. */
interface Sent {
  body?: object | null | undefined;
  /** Hash of each file. */
  files?: Readonly<Record<string, string>>;
  query?: object;
}

interface Change<Answer> {
  request: FastifyRequest;
  reply: FastifyReply;
  /** What is done, for the log: `pause`, `suppressions_added`. Null: a dry run, of which the log has nothing. */
  action: string | null;
  /** The campaign whose log it goes to; `account` where it concerns all. */
  campaignId: string;
  sent: Sent;
  status?: 200 | 201;
  /** What is kept of the answer for whoever asks again; default: all of it. */
  kept?: ((answer: Answer) => Answer) | undefined;
  work: () => Promise<Answer>;
}

/**
 * Carries out a change once for its `Idempotency-Key`, logs it with the name of who made it, and keeps the answer for good, or what `kept`
 * says of it. A refusal of what was sent (422) is kept as well; every other refusal frees the key, since its reason may pass.
 */
export async function makeChange<Answer>(
  context: ApiContext,
  { request, reply, action, campaignId, sent, status = 200, kept = (answer) => answer, work }: Change<Answer>,
): Promise<Answer> {
  const { store } = context;
  const holder = holderOf(request);
  const key = String(request.headers['idempotency-key'] ?? '');
  const claim = await claimKey(store, { tokenId: holder.tokenId, key, parts: partsOf(request, sent) });
  if (claim.kind === 'other') {
    const { differs } = claim;
    const what = `another ${differs.join(', ')}`;
    throw new ProblemError(409, 'key_reused', `This Idempotency-Key was used for a request with ${what}. Choose a new one.`, {
      differs,
    });
  }
  if (claim.kind === 'under_way') {
    void reply.header('retry-after', '2');
    throw new ProblemError(409, 'under_way', 'A request with this Idempotency-Key is being carried out. Ask again in a moment.');
  }
  if (claim.kind === 'done') {
    void reply.header('idempotent-replayed', 'true');
    const answer = JSON.parse(claim.answer.body) as unknown;
    if (claim.answer.status >= 400) throw ProblemError.of(answer as Problem);
    void reply.code(claim.answer.status);
    return answer as Answer;
  }
  const letGo = holdKey(store, claim.entry);
  try {
    const answer = await actFor(holder, work);
    const at = await serviceNow(context);
    await store.transaction(async (tx) => {
      if (action !== null) await appendEvents(tx, [{ at, campaignId, type: 'operator.acted', data: { name: holder.name, action } }]);
      await keepAnswer(tx, claim.entry, { status, body: JSON.stringify(kept(answer)) });
    });
    void reply.code(status);
    return answer;
  } catch (error) {
    const refusal = problemOf(error);
    const refused = { status: refusal.status, body: JSON.stringify(refusal) };
    // What is told is the first error.
    await store
      .transaction((tx) => (refusal.status === 422 ? keepAnswer(tx, claim.entry, refused) : freeKey(tx, claim.entry)))
      .catch(() => abandonKey(claim.entry));
    throw error;
  } finally {
    letGo();
  }
}

type CampaignChange<Answer> = Omit<Change<Answer>, 'request' | 'campaignId' | 'sent' | 'work'> & {
  request: { params: { campaign: string } };
  /** Default: the body. */
  sent?: Sent;
  work: (campaignId: string) => Promise<Answer>;
};

/** `makeChange` under the campaign's id as the database has it. A conflict tells who changed it last. Throws UnknownCampaignError. */
export async function changeCampaign<Answer>(
  context: ApiContext,
  change: CampaignChange<Answer> & { request: FastifyRequest },
): Promise<Answer> {
  const { request, work } = change;
  const { campaignId } = await requireCampaign(context.store, request.params.campaign);
  const { sent = { body: request.body as Sent['body'] } } = change;
  const told = async (error: unknown): Promise<never> => {
    const { status, code, detail } = problemOf(error);
    const { acted } = status === 409 ? await readLastActs(context.store.db, campaignId) : { acted: null };
    if (acted === null) throw error;
    const lastChange = { name: acted.name, action: acted.action, at: new Date(acted.at).toISOString() };
    throw new ProblemError(status, code, detail, { lastChange });
  };
  return makeChange(context, { ...change, campaignId, sent, work: () => work(campaignId).catch(told) });
}

/** Names of what was sent, with a hash of each: no value is kept. */
function partsOf({ method, url }: FastifyRequest, { body, files, query }: Sent): Record<string, string> {
  const [path = ''] = url.split('?');
  const parts: Record<string, string> = { method: hashOf(method), path: hashOf(path) };
  for (const [group, values] of Object.entries({ body, files, query }))
    for (const [name, value] of Object.entries(values ?? {})) if (value !== undefined) parts[`${group}.${name}`] = hashOf(value);
  return parts;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
