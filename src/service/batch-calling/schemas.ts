import { z } from 'zod';
import type { CallReport } from '../port/call-service.ts';
import { storableId } from '../port/record-values.ts';

// Every field of an answer may be missing, and a value that is not as published counts as missing.

/** What is there and fits; null otherwise. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/** An id that the service gave. */
export const serviceId = z.string().min(1).transform(storableId);
/** A number to call. */
export const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/);
/** An instant. */
export const unixSeconds = z.number().positive();

/** A batch, as it is listed and as it answers a request. */
export const batch = z.looseObject({
  id: orNull(serviceId),
  name: orNull(z.string()),
  created_at_unix: orNull(unixSeconds),
  scheduled_time_unix: orNull(unixSeconds),
  retry_count: orNull(z.number()),
});

const words: Readonly<Record<string, CallReport['state']>> = {
  pending: 'waiting',
  dispatched: 'waiting',
  initiated: 'dialling',
  in_progress: 'talking',
  completed: 'over',
  failed: 'over',
  voicemail: 'over',
  cancelled: 'withdrawn',
};

/** One recipient of a batch, as the program tells of it. */
export const recipient = z
  .looseObject({ id: orNull(z.string()), phone_number: orNull(e164), status: orNull(z.string()), conversation_id: orNull(serviceId) })
  .transform(({ id, phone_number: to, status, conversation_id: conversationId }): CallReport => {
    const state = status === null ? null : (words[status] ?? null);
    // `failed` hides a line that is busy, or one that nobody picks up: a record tells more, where there is one.
    const result = status === 'voicemail' || status === 'failed' ? status : null;
    return { ref: id, to, state, conversationId, result };
  });
