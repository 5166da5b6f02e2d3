import { z } from 'zod';
import { openRecording } from '../../control/call-record.ts';
import { holderOf, type Api } from '../core/app.ts';
import type { ApiContext } from '../core/context.ts';
import { LatelyShown } from '../core/lately-shown.ts';
import { showTranscript } from '../core/shown-call.ts';
import { noteShown } from '../core/shown-numbers.ts';
import { callParams, transcript } from '../schemas/calls.ts';
import { refusals } from '../schemas/common.ts';

const path = '/api/v1/campaigns/:campaign/rows/:row/calls/:call';
const tags = ['rows'];
const recording = z.any().meta({ description: 'The recording, or the part that was asked for.' });
const fileEndings: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/mpeg': 'mp3' };

/** Single calls, as the service has recorded them. */
export function callRoutes(app: Api, context: ApiContext): void {
  const played = new LatelyShown();
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
      return showTranscript(context, holderOf(request), { campaignId, row, call });
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
        description:
          'It is fetched from where the service keeps it, in parts where a `range` asks for them and the service has them. ' +
          'The log says who has fetched it, once in 15 minutes.',
        params: callParams,
        produces: ['audio/*', 'application/octet-stream'],
        response: { 200: recording, 206: recording, ...refusals(404, 409) },
      },
    },
    async (request, reply) => {
      const { campaign: campaignId, row, call } = request.params;
      const { range } = request.headers;
      const { ids, type, status, headers, body } = await openRecording(context, { campaignId, row, call, range });
      reply.raw.on('close', () => body.destroy());
      // A player fetches what it plays in many parts.
      const holder = holderOf(request);
      if (!played.isShown(holder.tokenId, ids.attemptId, context.now())) {
        await noteShown(context, holder, { ...ids, action: 'recording_shown' });
        played.show(holder.tokenId, ids.attemptId, context.now());
      }
      const ending = fileEndings[type ?? ''] ?? 'audio';
      return reply
        .code(status)
        .headers(headers)
        .type(type ?? 'application/octet-stream')
        .header('content-disposition', `attachment; filename="${campaignId}-row-${row}-call-${call}.${ending}"`)
        .header('x-content-type-options', 'nosniff')
        .send(body);
    },
  );
}
