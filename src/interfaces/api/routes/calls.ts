import { openRecording } from '../../../operations/control/call-record.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { LatelyShown, showTranscript, noteShown } from '../core/shown.ts';

const fileEndings: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/mpeg': 'mp3' };

/** Single calls, as the service has recorded them. */
export function callRoutes(app: Api, context: ApiContext): void {
  const played = new LatelyShown();
  serve(app, 'showTranscript', async (request) => {
    const { campaign: campaignId, row, call } = request.params;
    return showTranscript(context, holderOf(request), { campaignId, row, call });
  });

  serve(app, 'downloadRecording', async (request, reply) => {
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
  });
}
