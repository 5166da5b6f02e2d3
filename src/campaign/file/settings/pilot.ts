import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import type { Gate, GateMeasure } from '../../../rules/gates.ts';
import { share, shapeOf, whole, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const pilotFix = 'write pilot: { rows: 100 }';
// prettier-ignore
const pilot = {
  rows: { schema: whole(1, 10_000), help: 'So many rows are called once before anybody else is.' },
  pick: { schema: z.literal(['spread', 'first'], { error: 'write spread or first' }).default('spread'),
    help: 'spread: drawn over the whole list, which is usually sorted; first: its first rows.' },
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the campaign file; what stands there is no function
  then: { schema: z.literal(['ask', 'go_on'], { error: 'write ask or go_on' }).default('ask'),
    help: 'ask: a person looks at the figures and resumes; go_on: by itself where all gates hold.' },
} as const satisfies SettingGroup;

const measureFix = 'write answered, opted_out, goal, or result. and a name of results, such as result.wrong_person';
const gateFix = 'write { measure: opted_out, at_most: 3%, min: 30 }';
// prettier-ignore
const gate = {
  measure: { schema: z.string({ error: measureFix }).regex(/^(answered|opted_out|goal|result\.[a-z][a-z0-9_]{0,39})$/, { error: measureFix }),
    help: 'What is counted: answered, opted_out, goal, or result. and a name of results.' },
  of: { schema: z.literal(['calls', 'talks'], { error: 'write calls or talks' }).optional(),
    help: 'Of what it is a share; of calls with answered, else of talks.' },
  at_least: { schema: share.optional(), help: 'The least share, such as 20%.' },
  at_most: { schema: share.optional(), help: 'The highest share, such as 3%.' },
  min: { schema: whole(1, 100_000).default(30), help: 'Fewer calls or talks say nothing.' },
  always: { schema: z.boolean({ error: 'write true or false' }).default(false),
    help: 'true: it is asked while the whole campaign runs, at each doubling of min.' },
} as const satisfies SettingGroup;
const gateRule = z
  .strictObject(shapeOf(gate), { error: gateFix })
  .refine(({ at_least: least, at_most: most }) => (least === undefined) !== (most === undefined), { error: gateFix })
  .refine(({ measure, of }) => measure !== 'answered' || of !== 'talks', {
    error: 'write of: calls, or leave it out: every talk was answered',
  });

// prettier-ignore
export const pilotSettings = {
  pilot: { schema: z.strictObject(shapeOf(pilot), { error: pilotFix }).optional(), settings: pilot,
    help: 'A part of the list is called first; nobody else is before that has been decided about.' },
  gates: { schema: z.array(gateRule, { error: gateFix }).max(20, { error: 'write at most 20 gates' }).default([]), settings: gate,
    help: 'Shares that must hold: at the end of the pilot, and with always while the campaign runs.' },
} as const satisfies SettingGroup;

export function pilotRules({ pilot: first, gates: written }: Written<typeof pilotSettings>): Pick<CampaignRules, 'pilot' | 'gates'> {
  const gates = written.map(({ measure, of, at_least: atLeast = null, at_most: atMost = null, min, always }): Gate => {
    const unit = of ?? (measure === 'answered' ? 'calls' : 'talks');
    return { measure: measure as GateMeasure, of: unit, atLeast, atMost, min, always };
  });
  return {
    ...(first === undefined ? {} : { pilot: { rows: first.rows, pick: first.pick, next: first.then } }),
    ...(gates.length === 0 ? {} : { gates }),
  };
}
