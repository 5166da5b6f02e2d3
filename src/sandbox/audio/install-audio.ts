import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRecorded, type Call } from '../core/state/call.ts';
import { AudioLinks } from './links.ts';
import { Recordings, type Recording } from './recordings.ts';
import { createSpeech, type Speech } from './speak.ts';
import { talkOf } from '../core/conversation/talk-of.ts';
import { apiKeyIn, authenticate } from '../http/authentication.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { missingConversation } from '../routes/conversations.ts';
import { pathParameter, readQuery } from '../http/serve-operation.ts';

/** Numbers with this ending give their recording later than they should (gaps D.2). */
const lateRecordingEnding = '0115';
const lateByMs = 2 * 60_000;

const ownPath = '/v1/convai/conversations/:conversation_id/audio';
/** The same for the sandbox's page, whose listening is no matter of the caller and stands in no journal. */
export const pageRecordingPath = '/_page/recordings/:conversation_id';

/**
 * The voices in which agents speak, and recordings of calls: behind the `audio` address of operation 6, for the API key or a signature
 * that has not expired.
 */
export function installAudio(app: FastifyInstance, service: Service): { speech: Speech; recordings: Recordings } {
  const { settings } = service;
  const speech = createSpeech({ speech: settings.speech });
  const recordings = new Recordings(settings.seed, speech);
  const links = new AudioLinks();
  service.recordingAddress = (baseUrl, conversationId, now) => links.addressOf(baseUrl, conversationId, now);
  service.features.push({ leave: () => recordings.clear(), forget: (id) => recordings.forget(id) });
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const id = pathParameter(request, 'conversation_id');
    admit(request, id, service, links);
    const call = service.state.conversations.get(id);
    if (call === undefined) throw missingConversation(service, id);
    if (!isAvailable(call, service)) {
      const message = `Conversation "${id}" has no recording: nobody answered, it is not over, or the recording is not stored yet.`;
      throw new ServiceError(404, message, { code: 'recording_not_found' });
    }
    const recording = await recordings.of(call);
    // It may have been deleted while it was rendered.
    if (service.state.conversations.get(id) !== call) throw missingConversation(service, id);
    return sendRecording(request, reply, id, recording);
  };
  app.get(ownPath, answer);
  app.get(pageRecordingPath, answer);
  return { speech, recordings };
}

function admit(request: FastifyRequest, id: string, { settings, clock, schemas }: Service, links: AudioLinks): void {
  const { expires, signature } = readQuery(request, schemas.recording);
  const apiKey = apiKeyIn(request.headers, settings.dialect);
  if (apiKey !== null || expires === undefined || signature === undefined) {
    authenticate(apiKey, settings.apiKeys);
    return;
  }
  const verdict = links.check(id, expires, signature, clock.now());
  if (verdict === 'valid') return;
  throw new ServiceError(403, 'The address of the recording has expired or was changed. Read the conversation again.', {
    code: verdict === 'expired' ? 'signature_expired' : 'invalid_signature',
    param: 'signature',
  });
}

function isAvailable(call: Call, { settings, clock }: Service): boolean {
  const now = clock.now();
  const lateMs = call.to.endsWith(lateRecordingEnding) ? lateByMs : 0;
  return call.course !== null && isRecorded(call.course, talkOf(settings.seed, call), now - lateMs);
}

function sendRecording(request: FastifyRequest, reply: FastifyReply, id: string, { wav, etag }: Recording) {
  reply
    .header('etag', etag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-cache')
    .header('content-disposition', `inline; filename="${id}.wav"`)
    .type('audio/wav');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const condition = request.headers['if-range'];
  const wanted = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = readByteRange(wanted, wav.length);
  if (range === null) return reply.send(wav);
  if (range === 'unsatisfiable')
    return reply.code(416).header('content-range', `bytes */${wav.length}`).send(Buffer.alloc(0));
  return reply
    .code(206)
    .header('content-range', `bytes ${range.first}-${range.last}/${wav.length}`)
    .send(wav.subarray(range.first, range.last + 1));
}

/** First and last byte, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * What a Range header asks for of `length` bytes. Null asks for everything: there is no header, it is malformed, or it names
 * several ranges, which need not be served.
 */
export function readByteRange(header: string | undefined, length: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (match === null || (from === '' && to === '')) return null;
  if (from === '') {
    const count = Math.min(Number(to), length);
    return count === 0 ? 'unsatisfiable' : { first: length - count, last: length - 1 };
  }
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= length ? 'unsatisfiable' : { first, last };
}
