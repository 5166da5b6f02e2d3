import { z } from 'zod';
import { openRecording, readCallRecord } from '../../control/call-record.ts';
import { factsFromRecord } from '../../convai/record-facts.ts';
import { withInstants } from '../../input/with-instants.ts';
import { readTurns } from '../../words/transcript.ts';
import type { Api } from '../core/app.ts';
import type { ApiContext } from '../core/context.ts';
import { noteShown } from '../core/shown-numbers.ts';
import { callParams, transcript } from '../schemas/calls.ts';
import { refusals } from '../schemas/common.ts';

const path = '/api/v1/campaigns/:campaign/rows/:row/calls/:call';
const tags = ['rows'];
const fileEndings: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/mpeg': 'mp3' };

/** Single calls, as the service has recorded them. */
export function callRoutes(app: Api, context: ApiContext): void {
  app.get(
    `${path}/transcript`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'showTranscript',
        tags,
        summary: 'Read what was said in a call that has ended',
        description: 'It is read from the service, and the log says who has read it.',
        params: callParams,
        response: { 200: transcript, ...refusals(404, 409) },
      },
    },
    async (request) => {
      const { campaign: campaignId, row, call } = request.params;
      const record = await readCallRecord(context, { campaignId, row, call });
      await noteShown(context, request, { campaignId, action: 'transcript_shown' });
      const { startedAt, durationMs, callResult } = factsFromRecord(record);
      const { conversation_id: conversationId } = record;
      const told = { campaignId, row, call, conversationId, startedAt, durationMs, callResult };
      return { ...(withInstants(told) as object), turns: readTurns(record) } as z.input<typeof transcript>;
    },
  );

  app.get(
    `${path}/recording`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'downloadRecording',
        tags,
        summary: 'Download the recording of a call that has ended',
        description: 'It is fetched from where the service keeps it, and the log says who has fetched it.',
        params: callParams,
        produces: ['audio/*', 'application/octet-stream'],
        response: { 200: z.any().meta({ description: 'The recording.' }), ...refusals(404, 409) },
      },
    },
    async (request, reply) => {
      const { campaign: campaignId, row, call } = request.params;
      const { type, body } = await openRecording(context, { campaignId, row, call });
      reply.raw.on('close', () => body.destroy());
      await noteShown(context, request, { campaignId, action: 'recording_shown' });
      const ending = fileEndings[type ?? ''] ?? 'audio';
      return reply
        .type(type ?? 'application/octet-stream')
        .header('content-disposition', `attachment; filename="${campaignId}-row-${row}-call-${call}.${ending}"`)
        .header('x-content-type-options', 'nosniff')
        .send(body);
    },
  );
}
