import { createHash } from 'node:crypto';
import { z } from 'zod';
import { abandonKey, claimKey, freeKey, holdKey, keepAnswer } from '../../ledger/console/idempotency-keys.ts';
import { mayAct, type Token } from '../../ledger/console/tokens.ts';
import { actFor, appendEvents } from '../../ledger/events.ts';
import { readLastActs } from '../../ledger/read/campaign-view.ts';
import { accountScope } from '../../ledger/rows/suppressions.ts';
import { requireCampaign } from '../control/ledger.ts';
import { operationOf, type Answer, type SentFiles, type Taken } from '../list.ts';
import { filledPath } from '../operation.ts';
import type { runs } from './all.ts';
import { ProblemError, problemOf, readPart, withoutFolder, type Problem } from './problem.ts';
import { quickRuns } from './quick.ts';
import { serviceNow, type RunContext, type RunEnvironment, type Run } from './run.ts';

export type RunId = keyof typeof runs;

/** A token's holder, or the command line. */
export type Actor = Pick<Token, 'tokenId' | 'name' | 'role'>;

/** Token ids are hexadecimal, so none equals this one. */
export const commandLine: Actor = { tokenId: 'cli', name: 'the command line', role: 'admin' };

/** Before validation; its texts contain no forbidden characters. */
export interface Sent {
  params?: Readonly<Record<string, unknown>>;
  query?: unknown;
  body?: unknown;
  /** Called once the rest is valid. */
  files?: () => Promise<SentFiles>;
  /** Idempotency key: with the same request it replays the answer and changes nothing. */
  key?: string | undefined;
  /** No caller will repeat the key, so it is not stored. */
  isOnce?: boolean;
  /** What the key covers, if not the input, such as a term counted from now. */
  written?: object | undefined;
}

/** The schema's answer, plus what only commands print. */
export type RunAnswer<Id extends RunId> = (typeof runs)[Id] extends { run: (...given: never[]) => Promise<infer Told> } ? Told : Answer<Id>;

/** A command's own implementation, with local files and progress; the input is not validated then. */
export interface OwnRun<Told> {
  /** The campaign whose log records it. */
  log: string;
  run: () => Promise<Told>;
  /** Whether the log records it; default: always. */
  hasActed?: (answer: Told) => boolean;
}

export interface Performed<Told> {
  answer: Told;
  status: number;
  /** Stored by an earlier request: nothing was changed now. */
  replayed: boolean;
}

export const keyHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .meta({
      description:
        'A text of your own, new for each change. The same key for the same request is answered again and changes nothing ' +
        '(`idempotent-replayed: true`); for another request it is refused.',
      examples: ['4f7c2f0e-reminders-pause'],
    }),
});

/** Throws ProblemError where the actor lacks a role. */
export function refuseRole({ name, role }: Pick<Actor, 'name' | 'role'>, required: Token['role']): void {
  if (!mayAct(role, required)) throw new ProblemError(403, 'role', `This takes the role ${required}; the token of ${name} has ${role}.`);
}

/**
 * The only way in which API, page and commands change anything. A change is made once per key and logged with the actor's name; its answer
 * is stored, as is a 422 refusal. Other refusals free the key, since their reason may pass; if the process dies before the answer is
 * stored, repeating is harmless. Throws ProblemError, and as the operation; `problemOf` turns either into a refusal.
 */
export async function perform<Id extends RunId, Told = RunAnswer<Id>>(
  environment: RunEnvironment,
  id: Id,
  sent: Sent,
  actor: Actor,
  own?: OwnRun<Told>,
): Promise<Performed<Told>> {
  const { kind, role, status = 200, body, action = id } = operationOf(id);
  refuseRole(actor, role);
  const { input, files, key } = await readInput(id, sent, own === undefined);
  const shown = (error: unknown): never => {
    throw files === undefined ? error : withoutFolder(error, files.folder);
  };
  const onceId = createHash('sha256').update(`${actor.tokenId} ${key}`).digest('hex').slice(0, 12);
  const source = actor === commandLine ? 'person' : `person:${actor.name}`;
  const context = { ...environment, by: actor.name, source, onceId };
  const entry = await readRun(id);
  const begun: OwnRun<Told> = own ?? ((await begin(id, entry, context, input).catch(shown)) as OwnRun<unknown> as OwnRun<Told>);
  const { log: campaignId, run, hasActed = () => true } = begun;
  if (kind !== 'change') return { answer: await run().catch(shown), status, replayed: false };

  const { store } = environment;
  const parts = partsOf(id, sent, {
    body: sent.written ?? (body === undefined ? sent.body : input.body),
    files: files?.hashes,
    query: input.query,
  });
  const claim = sent.isOnce === true ? null : await claimKey(store, { tokenId: actor.tokenId, key, parts });
  if (claim?.kind === 'other') {
    const { differs } = claim;
    const what = `another ${differs.join(', ')}`;
    throw new ProblemError(409, 'key_reused', `This Idempotency-Key was used for a request with ${what}. Choose a new one.`, { differs });
  }
  if (claim?.kind === 'under_way')
    throw new ProblemError(409, 'under_way', 'A request with this Idempotency-Key is being carried out. Ask again in a moment.');
  if (claim?.kind === 'done') {
    const answer = JSON.parse(claim.answer.body) as unknown;
    if (claim.answer.status >= 400) throw ProblemError.of(answer as Problem, true);
    return { answer: answer as Told, status: claim.answer.status, replayed: true };
  }
  const held = claim?.entry;
  const letGo = held === undefined ? undefined : holdKey(store, held);
  const { actionOf, kept = (answer) => answer } = entry as unknown as Run<Id, unknown>;
  try {
    const answer = await actFor(actor, () => run().catch(shown));
    const at = await serviceNow(environment);
    const { body: requestBody, query } = input as Common;
    const isTrial = requestBody?.dryRun ?? query?.dry_run ?? false;
    const data = { name: actor.name, action: actionOf?.(input) ?? action };
    await store.transaction(async (tx) => {
      if (!isTrial && hasActed(answer)) await appendEvents(tx, [{ at, campaignId, type: 'operator.acted', data }]);
      if (held !== undefined) await keepAnswer(tx, held, { status, body: JSON.stringify(kept(answer)) });
    });
    return { answer, status, replayed: false };
  } catch (error) {
    const refusal = problemOf(error);
    const refused = { status: refusal.status, body: JSON.stringify(refusal) };
    // An error here must not hide the first one.
    if (held !== undefined)
      await store
        .transaction((tx) => (refusal.status === 422 ? keepAnswer(tx, held, refused) : freeKey(tx, held)))
        .catch(() => abandonKey(held));
    throw error;
  } finally {
    letGo?.();
  }
}

async function readRun<Id extends RunId>(id: Id): Promise<Run<Id, RunAnswer<Id>>> {
  const loaded = id in quickRuns ? quickRuns : (await import('./create.ts')).createRuns;
  return (loaded as Partial<typeof runs>)[id] as unknown as Run<Id, RunAnswer<Id>>;
}

/** Finds the log for a change. A conflict also names who changed the campaign last. */
async function begin<Id extends RunId>(
  id: Id,
  entry: Run<Id, RunAnswer<Id>>,
  context: RunContext,
  input: Taken<Id>,
): Promise<{ log: string; run: () => Promise<RunAnswer<Id>> }> {
  const { kind, route } = operationOf(id);
  if (entry.prepare !== undefined) return entry.prepare(context, input);
  const run = () => entry.run(context, input);
  if (kind !== 'change') return { log: '', run };
  const { campaign, body, query } = input as Common;
  const named = campaign ?? body?.campaign ?? query?.campaign ?? accountScope;
  if (!route.includes('/campaigns/:campaign')) return { log: (await entry.log?.(context, input)) ?? named, run };
  const { campaignId } = await requireCampaign(context.store, named);
  const addLastChange = async (error: unknown): Promise<never> => {
    const { acted } = problemOf(error).status === 409 ? await readLastActs(context.store.db, campaignId) : { acted: null };
    if (acted === null) throw error;
    throw Object.assign(error as Error, { lastChange: { name: acted.name, action: acted.action, at: new Date(acted.at).toISOString() } });
  };
  return { log: campaignId, run: () => entry.run(context, { ...input, campaign: campaignId }).catch(addLastChange) };
}

interface Common {
  campaign?: string;
  body?: { campaign?: string; dryRun?: boolean } | null;
  query?: { campaign?: string; dry_run?: boolean };
}

interface ReadInput<Id extends RunId> {
  input: Taken<Id>;
  files: SentFiles | undefined;
  key: string;
}

const readKey = (key: string | undefined): string => readPart('headers', keyHeaders, { 'idempotency-key': key })['idempotency-key'];

async function readInput<Id extends RunId>(id: Id, sent: Sent, isValidated: boolean): Promise<ReadInput<Id>> {
  if (!isValidated) return { input: sent as Taken<Id>, files: undefined, key: readKey(sent.key) };
  const { kind, params, query, body } = operationOf(id);
  const read = {
    ...(params === undefined ? {} : (readPart('params', params, sent.params) as object)),
    body: body === undefined ? undefined : readPart('body', body, sent.body),
    query: query === undefined ? undefined : readPart('querystring', query, sent.query ?? {}),
  };
  const key = kind === 'change' ? readKey(sent.key) : '';
  const files = await sent.files?.();
  return { input: (files === undefined ? read : { ...read, files }) as Taken<Id>, files, key };
}

/** Stores hashes instead of values. */
function partsOf(id: RunId, { params = {} }: Sent, groups: Readonly<Record<string, unknown>>): Record<string, string> {
  const { route } = operationOf(id);
  const [method = ''] = route.split(' ');
  const parts: Record<string, string> = { method: hashOf(method), path: hashOf(filledPath(route, params)) };
  for (const [group, values] of Object.entries(groups))
    for (const [name, value] of Object.entries(values ?? {})) if (value !== undefined) parts[`${group}.${name}`] = hashOf(value);
  return parts;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
