import { z } from 'zod';
import { e164, orNull, serviceId, unixSeconds } from '../batch-calling/schemas.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { CallReport } from '../port/call-service.ts';

/** A campaign of the service. */
export const campaign = z.looseObject({
  campaign_id: orNull(serviceId),
  call_name: orNull(z.string()),
  status: orNull(z.string()),
  created_at_unix: orNull(unixSeconds),
  scheduled_time_unix: orNull(unixSeconds),
});

/** A campaign, as far as its answer tells. */
export type SeenCampaign = z.output<typeof campaign>;

/** The answer to a request to dial. `created`: whether it made the campaign, or an earlier one with its key did. */
export const submitted = z.looseObject({ campaign: orNull(campaign), created: orNull(z.boolean()) });

const lead = z.looseObject({
  lead_id: orNull(z.string()),
  recipient_id: orNull(z.string()),
  phone_number: orNull(e164),
  do_not_call: orNull(z.boolean()),
});

/** A recipient of a campaign. */
export type Lead = z.output<typeof lead>;

const call = z.looseObject({
  lead_id: orNull(z.string()),
  status: orNull(z.string()),
  phone_number: orNull(e164),
  conversation_id: orNull(serviceId),
  outcome: orNull(z.string()),
  call_result: orNull(z.enum(['answered', 'voicemail', 'busy', 'no_answer', 'failed'])),
});

const words: Readonly<Record<string, CallReport['state']>> = {
  queued: 'waiting',
  attention: 'waiting',
  submitted: 'dialling',
  completed: 'over',
  cancelled: 'withdrawn',
};

/** An entry of a list of leads; what is none has nothing but nulls. */
export function readLead(entry: unknown): Lead {
  return lead.parse(isRecord(entry) ? entry : {});
}

/** Whether each of these leads has a call listed, and each call is of one of them: then nothing else is to be known of the leads. */
export function areOf(leads: readonly Lead[], calls: readonly unknown[]): boolean {
  const ofCalls = new Set(calls.map((entry) => call.parse(isRecord(entry) ? entry : {}).lead_id));
  const ids = new Set(leads.map(({ lead_id: id }) => id));
  return ids.size === ofCalls.size && !ids.has(null) && [...ids].every((id) => ofCalls.has(id));
}

/** The calls of all leads. A lead of which no call is listed waits for its own, unless it is not to be called any more. */
export function reportOf(leads: readonly Lead[], calls: readonly unknown[]): CallReport[] {
  const read = calls.map((entry) => call.parse(isRecord(entry) ? entry : {}));
  const byId = new Map(leads.flatMap((entry) => (entry.lead_id === null ? [] : [[entry.lead_id, entry] as const])));
  const called = read.map((entry): CallReport => {
    const { status, outcome, call_result: result, phone_number: to, conversation_id: conversationId } = entry;
    const state = outcome === 'cancelled' ? 'withdrawn' : status === null ? null : (words[status] ?? null);
    const ref = byId.get(entry.lead_id ?? '')?.recipient_id ?? null;
    return { ref, to, state, conversationId, result: result ?? (outcome === 'voicemail' ? 'voicemail' : null) };
  });
  const known = new Set(read.map(({ lead_id: id }) => id));
  const uncalled = leads.filter(({ lead_id: id }) => !known.has(id));
  return [
    ...called,
    ...uncalled.map(({ recipient_id: ref, phone_number: to, do_not_call: isOver }): CallReport => {
      return { ref, to, state: isOver === true ? 'withdrawn' : 'waiting', conversationId: null, result: null };
    }),
  ];
}
