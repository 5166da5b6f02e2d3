import { z } from 'zod';
import { oneOrMore, readBy, scalarShape, text } from './settings/kinds.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const equalsFix = 'write the value, or the list of values, that means it, such as [true, "yes"]';
const equals = readBy((value) => {
  const parsed = z
    .array(scalar)
    .min(1)
    .safeParse(Array.isArray(value) ? value : [value]);
  return parsed.success ? parsed.data : null;
}, equalsFix).meta(oneOrMore(scalarShape));

const optOutFix = 'write { collected: key, equals: value } or { evaluation: key, equals: value }';
const optOutRule = z
  .strictObject(
    { collected: text(optOutFix).optional(), evaluation: text(optOutFix).optional(), equals },
    { error: optOutFix },
  )
  .refine((rule) => (rule.collected === undefined) !== (rule.evaluation === undefined), { error: optOutFix });

/** `opt_out:` of a campaign file. */
export const optOut = z
  .array(optOutRule, { error: optOutFix })
  .max(100, { error: 'write at most 100 rules' })
  .default([]);

const pointerFix = 'write a JSON pointer into the record, such as /metadata/termination_reason';
/** RFC 6901: each part after a slash, with ~0 and ~1 for ~ and /. */
const pointer = z
  .string({ error: pointerFix })
  .max(500, { error: pointerFix })
  .regex(/^(?:\/(?:[^~/]|~[01])+)+$/, { error: pointerFix });

const dispositionFix = 'write { when: { pointer: /metadata/…, equals: value }, is: busy }';
const readable = ['answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'opted_out'] as const;
const dispositionRule = z.strictObject(
  {
    when: z.strictObject({ pointer, equals }, { error: dispositionFix }),
    is: z.literal(readable, { error: `write one of ${readable.join(', ')}` }),
  },
  { error: dispositionFix },
);

/** `dispositions:` of a campaign file: what fields that no contract names say about the call. */
export const dispositionRules = z
  .array(dispositionRule, { error: dispositionFix })
  .max(100, { error: 'write at most 100 rules' })
  .default([]);

const pointers = z
  .union([pointer.transform((one) => [one]), z.array(pointer, { error: pointerFix }).max(20)], { error: pointerFix })
  .default([]);

/** `correlation:` of a campaign file: where else a record says whose call it is. */
export const correlation = z.strictObject(
  { callee_number: pointers, batch_id: pointers, reference: pointers },
  { error: 'write a mapping such as { callee_number: /metadata/to }' },
);
