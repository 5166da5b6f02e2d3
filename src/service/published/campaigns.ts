import { z } from 'zod';
import { parseBody } from '../http/bodies.ts';
import { pathOf, root } from '../http/paths.ts';
import type { Success, Transport } from '../http/transport.ts';
import type { CallReport, CallRequest, CallService, Found, ListedBatch, ServiceReads } from '../port/call-service.ts';
import { BadResponseError, OutcomeUnknownError } from '../port/errors.ts';
import { orderOf, type LookUpTrial, type TrialCall } from '../port/lookup-trial.ts';
import {
  bodyOf,
  e164,
  foundOf,
  isFarAhead,
  isNamed,
  isTakenBack,
  listFault,
  runLookUp,
  nameOf,
  orNull,
  placeOnce,
  putOff,
  readAll,
  readEntry,
  serviceId,
  submission,
  trialRequest,
  unixSeconds,
  type List,
  type PublishedApi,
} from './parts.ts';

const collection = 'outbound-campaigns/campaigns';
const listAt = (path: string, key: string): List => ({ path, key, size: 'page_size', cursor: 'cursor', next: 'next_cursor' });
const all = listAt(`${root}/${collection}`, 'campaigns');

const campaign = z.looseObject({
  campaign_id: orNull(serviceId),
  call_name: orNull(z.string()),
  status: orNull(z.string()),
  created_at_unix: orNull(unixSeconds),
  scheduled_time_unix: orNull(unixSeconds),
});

type ObservedCampaign = z.output<typeof campaign>;

/** Answer to a dial request. `created`: false when an earlier campaign has its key. */
const submitted = z.looseObject({ campaign: orNull(campaign), created: orNull(z.boolean()) });

const lead = z.looseObject({
  lead_id: orNull(z.string()),
  recipient_id: orNull(z.string()),
  phone_number: orNull(e164),
  do_not_call: orNull(z.boolean()),
});
type Lead = z.output<typeof lead>;

const call = z.looseObject({
  lead_id: orNull(z.string()),
  status: orNull(z.string()),
  phone_number: orNull(e164),
  conversation_id: orNull(serviceId),
  outcome: orNull(z.string()),
  call_result: orNull(z.enum(['answered', 'voicemail', 'busy', 'no_answer', 'failed'])),
});
type Call = z.output<typeof call>;

const states: Readonly<Record<string, CallReport['state']>> = {
  queued: 'waiting',
  attention: 'waiting',
  submitted: 'dialling',
  completed: 'over',
  cancelled: 'withdrawn',
};

/** Title of a fence in the service's dashboard. */
const fenceTitle = 'look-up, calls nobody';

function dialOf(request: Omit<CallRequest, 'variablesKey'>) {
  const channel = { channel: 'phone', agent_phone_number_id: request.callerId };
  return bodyOf(request, { channel_config: channel, variant: 'simple', idempotency_key: request.mark });
}

/**
 * A fence takes another request's key, so that it can never run. Its only recipient is the caller number: a service that ignores the
 * schedule calls itself, not a person. `nowMs`: service time.
 */
function fenceOf({ mark, agentId, callerId }: Pick<CallRequest, 'mark' | 'agentId' | 'callerId'>, to: string, nowMs: number): unknown {
  const calls = [{ ref: `fence:${mark}`, to, override: null, variables: null }];
  return putOff(dialOf({ mark, agentId, callerId, title: fenceTitle, concurrency: 1, calls }), nowMs);
}

/** Whether a campaign is the request with this mark or its fence; null: unclear. */
function kindOf(seen: ObservedCampaign, mark: string): 'request' | 'fence' | null {
  const { call_name: name, created_at_unix: created, scheduled_time_unix: scheduled } = seen;
  if (name === null || created === null || !isNamed(name, mark)) return null;
  const isAhead = isFarAhead(scheduled, created * 1_000);
  const isNamedFence = name === nameOf({ title: fenceTitle, mark });
  if (isAhead !== isNamedFence) return null;
  return isAhead ? 'fence' : 'request';
}

/** The campaign in a 2xx answer. Throws BadResponseError without an id. */
function madeBy(success: Success): { id: string; made: ObservedCampaign; isNew: boolean } {
  const { campaign: made, created } = parseBody(success, submitted);
  if (made?.campaign_id == null) throw new BadResponseError(success.request, success.status, ['no id of the campaign']);
  return { id: made.campaign_id, made, isNew: created === true };
}

const below = (method: string, id: string, what: string) => `${pathOf(method, collection, id)}/${what}`;

/** Most campaigns whose leads are cached. */
const mostKept = 1_000;

/** A key separates a request whose answer was lost from one that never arrived, and each recipient can be withdrawn. */
function serviceOver(transport: Transport, reads: ServiceReads): CallService {
  const listOf = async <Schema extends z.ZodType>(id: string, key: string, schema: Schema): Promise<z.output<Schema>[]> =>
    (await readAll(transport, listAt(below('GET', id, key), key))).map((entry) => readEntry(schema, entry));
  /** Leads never change, so cached ones are reused once each has a call listed. */
  const leads = new Map<string, readonly Lead[]>();
  return {
    abilities: { lookUp: 'key', namesRecipients: true, withdraw: 'recipient' },
    place: (request, once) =>
      placeOnce(transport, submission(collection, dialOf(request)), once, (success) => {
        const { id, made, isNew } = madeBy(success);
        // A taken key belongs to this request, sent before, or to its fence, which places no call.
        if (!isNew && kindOf(made, request.mark) !== 'request')
          throw new BadResponseError(success.request, success.status, ['another campaign has the key']);
        return id;
      }),
    find: (post) => runLookUp(() => findKeyed(transport, reads, post)),
    batches: (agentId) => listCampaigns(transport, agentId),
    async report(serviceBatchId) {
      // Calls first, so that a call made meanwhile has a known lead.
      const calls = await listOf(serviceBatchId, 'calls', call);
      const known = leads.get(serviceBatchId);
      if (known !== undefined && areOf(known, calls)) return reportOf(known, calls);
      const read = await listOf(serviceBatchId, 'leads', lead);
      leads.delete(serviceBatchId);
      leads.set(serviceBatchId, read);
      const [oldest] = leads.keys();
      if (leads.size > mostKept && oldest !== undefined) leads.delete(oldest);
      return reportOf(read, calls);
    },
    async withdraw(serviceBatchId, refs) {
      if (refs === 'all') {
        await transport.write({ method: 'POST', path: below('POST', serviceBatchId, 'stop'), body: null });
        return;
      }
      const under = `${collection}/${encodeURIComponent(serviceBatchId)}/leads`;
      for (const { lead_id: leadId, recipient_id: ref } of await listOf(serviceBatchId, 'leads', lead))
        if (leadId !== null && ref !== null && refs.includes(ref))
          await transport.write({ method: 'DELETE', path: pathOf('DELETE', under, leadId), body: null });
    },
    ...reads,
  };
}

/** True when leads and calls name the same leads: then the leads need not be read again. */
function areOf(leads: readonly Lead[], calls: readonly Call[]): boolean {
  const ofCalls = new Set(calls.map(({ lead_id: id }) => id));
  const ids = new Set(leads.map(({ lead_id: id }) => id));
  return ids.size === ofCalls.size && !ids.has(null) && [...ids].every((id) => ofCalls.has(id));
}

/** The calls of all leads. A lead without a listed call waits, or is withdrawn if `do_not_call`. */
function reportOf(leads: readonly Lead[], calls: readonly Call[]): CallReport[] {
  const byId = new Map(leads.flatMap((entry) => (entry.lead_id === null ? [] : [[entry.lead_id, entry] as const])));
  const called = calls.map((entry): CallReport => {
    const { status, outcome, call_result: result, phone_number: to, conversation_id: conversationId } = entry;
    const state = outcome === 'cancelled' ? 'withdrawn' : status === null ? null : (states[status] ?? null);
    const ref = byId.get(entry.lead_id ?? '')?.recipient_id ?? null;
    return { ref, to, state, conversationId, result: result ?? (outcome === 'voicemail' ? 'voicemail' : null) };
  });
  const known = new Set(calls.map(({ lead_id: id }) => id));
  const uncalled = leads.filter(({ lead_id: id }) => !known.has(id));
  return [
    ...called,
    ...uncalled.map(({ recipient_id: ref, phone_number: to, do_not_call: isOver }): CallReport => {
      return { ref, to, state: isOver === true ? 'withdrawn' : 'waiting', conversationId: null, result: null };
    }),
  ];
}

/** How long a service is trusted to keep a key. Later, a new campaign does not prove that there was none before. */
const keyKeptMs = 12 * 3_600_000;

/** Most stops of a fence in one look-up. */
const mostStops = 3;

type Sought = Parameters<NonNullable<CallService['find']>>[0];

/**
 * If the list does not show the request, a fence decides: a second request with the same key either meets the first campaign or takes the
 * key for good, and is stopped at once.
 */
async function findKeyed(transport: Transport, reads: ServiceReads, sought: Sought): Promise<Found> {
  const { mark, callerId, since } = sought;
  const listed = await listNamed(transport, sought);
  const requests = listed.filter((entry) => kindOf(entry, mark) === 'request').flatMap(({ campaign_id: id }) => id ?? []);
  const found = foundOf(requests);
  if (found !== null) return found;
  // A campaign of this name that is neither request nor fence may still be the request.
  if (listed.some((entry) => kindOf(entry, mark) !== 'fence')) return { kind: 'not_readable' };

  const to = (await reads.callers([callerId])).find(({ id }) => id === callerId)?.number?.replaceAll(/[\s().-]/g, '') ?? '';
  if (!e164.safeParse(to).success) return { kind: 'not_readable' };
  const now = Math.max(since, reads.clockReadings().last?.serverMs ?? since);
  const met = await submitFence(transport, sought, fenceOf(sought, to, now));
  const id = met?.campaign_id ?? null;
  if (met === null || id === null) return { kind: 'not_readable' };
  const kind = kindOf(met, mark);
  if (kind === 'request') return { kind: 'accepted', serviceBatchId: id };
  if (kind === null || !(await stop(transport, id))) return { kind: 'not_readable' };
  return { kind: 'absent', certain: (met.created_at_unix ?? Infinity) * 1_000 - since <= keyKeptMs };
}

async function listSeen(transport: Transport, agentId: string | undefined, search?: string): Promise<ObservedCampaign[]> {
  return (await readAll(transport, all, { agent_id: agentId, search })).map((entry) => readEntry(campaign, entry));
}

/** Campaigns named with the mark, or without a name. */
async function listNamed(transport: Transport, { mark, agentId }: Sought): Promise<ObservedCampaign[]> {
  const read = await listSeen(transport, agentId, mark);
  return read.filter(({ call_name: name }) => name === null || isNamed(name, mark));
}

/** None is ever retried. Throws ServiceError, also when one has no id or name. */
async function* listCampaigns(transport: Transport, agentId?: string): AsyncGenerator<ListedBatch> {
  for (const { campaign_id: id, call_name: name } of await listSeen(transport, agentId)) {
    if (id === null || name === null) throw listFault(all, 'a campaign without id or name in it');
    yield { id, name, retries: null };
  }
}

/** The campaign that has the key now; null: unclear. */
async function submitFence(transport: Transport, sought: Sought, fence: unknown): Promise<ObservedCampaign | null> {
  try {
    const { campaign: met } = parseBody(await transport.write(submission(collection, fence)), submitted);
    if (met?.campaign_id == null) return null;
    // Reads it back, because the answer to the submission need not show its state.
    return parseBody(await transport.read(pathOf('GET', collection, met.campaign_id)), campaign);
  } catch (error) {
    // A 409 means the key is in use with another body; the list shows by which campaign.
    if (!(error instanceof OutcomeUnknownError) || error.status !== 409) throw error;
    const [met, ...more] = await listNamed(transport, sought);
    return more.length > 0 ? null : (met ?? null);
  }
}

/** Stops a campaign. True when it places no more calls and none is going on. */
async function stop(transport: Transport, campaignId: string): Promise<boolean> {
  for (let stops = 0; stops < mostStops; stops += 1) {
    const success = await transport.write({ method: 'POST', path: below('POST', campaignId, 'stop'), body: null });
    if (['stopped', 'completed', 'failed'].includes(parseBody(success, campaign).status ?? '')) return true;
  }
  return false;
}

function trialOver(transport: Transport, reads: ServiceReads, trial: TrialCall): LookUpTrial {
  const { mark, agentId, to, now } = trial;
  const body = putOff(dialOf(trialRequest(trial)), now);
  const submit = async (what: unknown) => madeBy(await transport.write(submission(collection, what)));
  return {
    async schedule() {
      const { id, made } = await submit(body);
      return { id, isAhead: isFarAhead(made.scheduled_time_unix, now) };
    },
    async listed() {
      const seen = await listSeen(transport, agentId, mark);
      return seen.find(({ call_name: name }) => name !== null && isNamed(name, mark))?.campaign_id ?? null;
    },
    order: async () => orderOf((await listSeen(transport, agentId)).map(({ created_at_unix: created }) => created)),
    async repeat(id) {
      const made = new Set([(await submit(body)).id]);
      let isRefused = false;
      try {
        made.add((await submit(fenceOf(trial, to, now))).id);
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError) || error.status !== 409) throw error;
        isRefused = true;
      }
      made.delete(id);
      return { key: made.size > 0 ? 'none' : isRefused ? 'conflict' : 'first_answer', made: [...made] };
    },
    takeBackPath: (id) => below('POST', id, 'stop'),
    async takeBack(id) {
      if (!(await isTakenBack(serviceOver(transport, reads), id))) return 'its recipient is not cancelled';
      const { status } = parseBody(await transport.read(pathOf('GET', collection, id)), campaign);
      return status === 'stopped' ? null : `its status is ${status === null ? 'not told' : 'not "stopped"'}`;
    },
  };
}

/** The outbound campaigns interface. */
export const campaigns: PublishedApi = { listPath: all.path, service: serviceOver, trial: trialOver };
