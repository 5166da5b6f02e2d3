import { z } from 'zod';
import { readableDispositions } from '../../../rules/disposition.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { resultsBesides, type ResultRule, type ValueRule } from '../../../rules/talk-results.ts';
import { duration, oneOrMore, readBy, scalarShape, text, rulesOf, shapeOf, whole } from '../../../shared/input/setting.ts';
import type { SettingGroup, Written } from '../../../shared/input/setting.ts';

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
// prettier-ignore
const optOut = {
  collected: { schema: text(optOutFix).optional(), label: 'How the agent notes a wish not to be called again',
    help: 'Key of a collected value.',
    form: { part: 'words', placeholder: 'such as opt_out',
      hint: 'The name of the value that the agent collects when a person asks not to be called again. Yes or true there: no campaign calls them again.' } },
  evaluation: { schema: text(optOutFix).optional(), help: 'Key of an evaluation result.' },
  equals: { schema: equals, help: 'The value or values that mean it.' },
} as const satisfies SettingGroup;
const optOutRule = z
  .strictObject(shapeOf(optOut), { error: optOutFix })
  .refine((rule) => (rule.collected === undefined) !== (rule.evaluation === undefined), { error: optOutFix });

const resultFix = 'write { result: confirmed, collected: key, equals: value }, with evaluation or talk_under as you need them';
const resultNameFix = 'write a name of small letters, digits and _, at most 40, beginning with a letter';
const thenFix = 'write stop, retry or callback';
const afterFix = 'write then: retry and after: 2h together, or neither';
const taken: readonly string[] = Object.values(resultsBesides);
// prettier-ignore
const result = {
  result: { help: 'What such a talk came to, as a word of yours.',
    schema: z.string({ error: resultNameFix }).regex(/^[a-z][a-z0-9_]{0,39}$/, { error: resultNameFix })
      .refine((name) => !taken.includes(name), { error: `write another name: ${taken.join(' and ')} are for talks that no rule describes` }) },
  collected: { schema: text(resultFix).optional(), help: 'Key of a collected value.' },
  evaluation: { schema: text(resultFix).optional(), help: 'Key of an evaluation result.' },
  equals: { schema: equals.optional(), help: 'The value or values that mean it.' },
  talk_under: { schema: duration(1000).optional(), help: 'The call lasted less than this, such as 10s.' },
  goal: { schema: z.boolean({ error: 'write true or false' }).default(false), help: 'This is what the campaign is for.' },
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the campaign file; what stands there is no function
  then: { schema: z.literal(['stop', 'retry', 'callback'], { error: thenFix }).default('stop'),
    help: 'What follows: stop (the row ends), retry (another call, within the same attempts) or callback (when they ask for it, see callback).' },
  after: { schema: duration(60_000).optional(), help: 'How long after the record has told it, with then: retry.' },
} as const satisfies SettingGroup;
const resultRule = z
  .strictObject(shapeOf(result), { error: resultFix })
  .refine(({ collected, evaluation }) => collected === undefined || evaluation === undefined, { error: resultFix })
  .refine(({ collected, evaluation, equals: values }) => (values === undefined) === ((collected ?? evaluation) === undefined), {
    error: resultFix,
  })
  .refine(({ equals: values, talk_under: under }) => values !== undefined || under !== undefined, { error: resultFix })
  .refine(({ then, after }) => (then === 'retry') === (after !== undefined), { error: afterFix });

// prettier-ignore
const stopAt = {
  goal: { schema: whole(1, 10_000_000), help: 'So many talks whose result is a goal; nobody is called then but whom a call back was promised.' },
  overshoot: { schema: z.literal(['allowed', 'none'], { error: 'write allowed or none' }).default('allowed'),
    help: 'none: never more calls open than goals missing, which is slow at the end. allowed: open calls may reach more.' },
} as const satisfies SettingGroup;

const pointerFix = 'write a JSON pointer into the record, such as /metadata/termination_reason';
/** RFC 6901: `/` before each part, `~0` for `~` and `~1` for `/`. */
const pointer = z
  .string({ error: pointerFix })
  .max(500, { error: pointerFix })
  .regex(/^(?:\/(?:[^~/]|~[01])+)+$/, { error: pointerFix });

const dispositionFix = 'write { when: { pointer: /metadata/…, equals: value }, is: busy }';
// prettier-ignore
const field = {
  pointer: { schema: pointer, help: 'JSON pointer into the record, such as /metadata/termination_reason.' },
  equals: { schema: equals, help: 'The value or values that mean it.' },
} as const satisfies SettingGroup;
const when = z.strictObject(shapeOf(field), { error: dispositionFix });
// prettier-ignore
const disposition = {
  when: { schema: when, help: 'A field and its value.' },
  is: { schema: z.literal(readableDispositions, { error: `write one of ${readableDispositions.join(', ')}` }), help: 'What the call then was.' },
} as const satisfies SettingGroup;
const dispositionRule = z.strictObject(shapeOf(disposition), { error: dispositionFix });

const pointers = z
  .union([pointer.transform((one) => [one]), z.array(pointer, { error: pointerFix }).max(20)], { error: pointerFix })
  .default([]);
const correlation = {
  callee_number: { schema: pointers, help: 'Where the number of the callee stands.', rules: 'calleeNumber' },
  batch_id: { schema: pointers, help: 'Where the id of the batch stands.', rules: 'batchId' },
  reference: { schema: pointers, help: 'Where the reference of the call stands.', rules: 'reference' },
} as const satisfies SettingGroup;

const correlations = z
  .strictObject(shapeOf(correlation), { error: 'write a mapping such as { callee_number: /metadata/to }' })
  .prefault({});

const listOf = <Rule extends z.ZodType>(rule: Rule, fix: string) =>
  z.array(rule, { error: fix }).max(100, { error: 'write at most 100 rules' }).default([]);

const priceFix = 'write a number above 0 and at most 1000, such as 0.12';
const amount = z.number({ error: priceFix }).positive({ error: priceFix }).max(1000, { error: priceFix });
const currencyFix = 'write the three letters of a currency, such as USD';
// prettier-ignore
const price = {
  per_minute: { schema: amount, label: 'A minute costs', help: 'What a minute on the line costs.', form: { part: 'calls', placeholder: '0.12' } },
  currency: { schema: z.string({ error: currencyFix }).regex(/^[A-Z]{3}$/, { error: currencyFix }), label: 'Currency',
    help: 'Its currency, as three letters.', form: { part: 'calls', placeholder: 'USD' } },
} as const satisfies SettingGroup;

// prettier-ignore
export const recordSettings = {
  price: { schema: z.strictObject(shapeOf(price), { error: 'write { per_minute: 0.12, currency: USD }' }).optional(), settings: price,
    help: 'What the calls cost, for figures of money; without it there are none. Nothing is decided by it.' },
  opt_out: { schema: listOf(optOutRule, optOutFix), rules: 'optOut', settings: optOut,
    help: 'Rules that find a request not to be called again in the results of a call.' },
  results: { schema: listOf(resultRule, resultFix), settings: result,
    help: 'What a talk came to: the first rule whose conditions all hold, and what follows.' },
  stop_at: { schema: z.strictObject(shapeOf(stopAt), { error: 'write stop_at: { goal: 500 }' }).optional(), settings: stopAt,
    help: 'When the campaign has enough of what it is for, see results.' },
  dispositions: { schema: listOf(dispositionRule, dispositionFix), rules: 'dispositions',
    help: 'What fields that no contract names say about the call.' },
  correlation: { schema: correlations, rules: 'correlation', help: 'Where else a record says whose call it is, as JSON pointers.' },
} as const satisfies SettingGroup;

export function recordRules(
  written: Written<typeof recordSettings>,
): Pick<CampaignRules, 'optOut' | 'dispositions' | 'correlation' | 'price' | 'results' | 'unwrapOnce' | 'stopAt'> {
  const { price: writtenPrice, stop_at: stopAt } = written;
  const own = writtenPrice && { perMinuteMicros: Math.round(writtenPrice.per_minute * 1_000_000), currency: writtenPrice.currency };
  const rules = rulesOf(recordSettings, {
    opt_out: written.opt_out.map((rule) => valueRule(rule, rule.equals)),
    dispositions: written.dispositions.map(({ when, is }) => ({ ...when, disposition: is })),
    correlation: rulesOf(correlation, written.correlation),
  });
  const results = written.results.map(
    ({ result: name, goal, equals: values, talk_under: talkUnderMs = null, after: afterMs, then, ...rule }): ResultRule => {
      const next =
        afterMs !== undefined ? { next: { kind: 'retry', afterMs } as const } : then === 'callback' ? { next: { kind: then } } : {};
      return { result: name, value: values === undefined ? null : valueRule(rule, values), talkUnderMs, goal, ...next };
    },
  );
  return {
    ...rules,
    ...(own === undefined ? {} : { price: own }),
    ...(results.length === 0 ? {} : { results, unwrapOnce: true as const }),
    ...(stopAt === undefined ? {} : { stopAt }),
  };
}

function valueRule(rule: { collected?: string | undefined; evaluation?: string | undefined }, values: ValueRule['values']): ValueRule {
  const { collected, evaluation = '' } = rule;
  return collected === undefined ? { source: 'evaluation', key: evaluation, values } : { source: 'collected', key: collected, values };
}
