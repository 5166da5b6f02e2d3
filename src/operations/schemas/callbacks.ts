import { z } from 'zod';
import { promiseStates } from '../../rules/callback-rules.ts';
import { campaignParams, instant, several } from './common.ts';
import { rowParams } from './rows.ts';

const callback = z
  .object({
    row: z.int(),
    externalId: z.string().nullable(),
    state: z
      .enum(promiseStates)
      .meta({ description: '`late`: the phone rang after its time. `missed`: the call was not requested in time.' }),
    dueAt: instant.nullable().meta({ description: 'Null where it is not clear when.' }),
    untilAt: instant.nullable().meta({ description: 'The call is requested before.' }),
    isOverdue: z.boolean().meta({ description: 'Open, and its time has passed while nobody could dial.' }),
    local: z
      .string()
      .nullable()
      .meta({ description: 'What their clock shows then.', examples: ['2030-11-30 17:00'] }),
    zones: z.array(z.string()),
    said: z.string().nullable().meta({ description: 'What was collected in the call.' }),
    fromAttempt: z.string().nullable().meta({ description: 'The call in which they asked for it.' }),
    madeAt: instant,
    madeBy: z.string().nullable().meta({ description: 'Null: the person called asked for it.' }),
    reason: z.string().nullable(),
    keptBy: z.string().nullable().meta({ description: 'The call by which it ended.' }),
    endedAt: instant.nullable(),
  })
  .meta({ id: 'Callback' });

const callbackBody = z.strictObject({
  at: z
    .string()
    .min(1)
    .max(40)
    .meta({ description: 'Local time of the person called, or an instant with its offset.', examples: ['2030-11-30 17:00'] }),
});
const told = { campaignId: z.string(), row: z.int(), notice: z.string().nullable() };

export const callbackShapes = {
  listCallbacks: {
    params: campaignParams,
    query: z.object({ state: several(z.enum(promiseStates)) }),
    answer: z.object({ callbacks: z.array(callback) }),
  },
  setCallback: { params: rowParams, body: callbackBody, answer: z.object({ ...told, dueAt: instant }), refuses: [409] },
  cancelCallback: { params: rowParams, answer: z.object(told), refuses: [409] },
};
