import { z } from 'zod';
import { instant } from './common.ts';
import { rowParams } from './rows.ts';

const callParams = rowParams.extend({
  call: z.coerce.number().int().min(1).meta({ description: 'Number of the call to this row, from 1.' }),
});

/** What was said in a call. */
export const transcript = z
  .object({
    campaignId: z.string(),
    row: z.int(),
    call: z.int(),
    conversationId: z.string(),
    startedAt: instant.nullable(),
    durationMs: z.number().nullable(),
    callResult: z.string().nullable(),
    isRecorded: z.boolean().meta({ description: 'Whether the service has a recording of it.' }),
    turns: z.array(
      z.object({
        speaker: z.string().meta({ description: 'As the service names it.' }),
        text: z.string().nullable(),
        time: z
          .union([z.string(), z.number()])
          .nullable()
          .meta({ description: 'As the service tells it: an instant, or seconds since the call began.' }),
      }),
    ),
  })
  .meta({ id: 'Transcript' });

const recording = {
  content: z.any().meta({ description: 'The recording, or the part that was asked for.' }),
  types: ['audio/*', 'application/octet-stream'],
  inParts: true,
};

/** Of single calls. */
export const callShapes = {
  showTranscript: { params: callParams, answer: transcript, refuses: [409] },
  downloadRecording: { params: callParams, produces: recording, refuses: [409] },
};
