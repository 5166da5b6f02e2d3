import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { factsOf } from '../core/dialects.ts';
import { routes } from '../core/operations.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { talkOf } from '../core/conversation/talk-of.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { isRecorded, type Call } from '../core/state/call.ts';
import { apiKeyIn, authenticate } from '../http/authentication.ts';
import { pathParameter, readQuery, serveRoutes } from '../http/serve-routes.ts';
import { missingConversation } from '../core/service/found.ts';
import { Recording } from './recording.ts';
import { agentPitch, recipientPitch } from './tones.ts';

/** Numbers with this ending get their recording late (gaps D.2). */
const lateRecordingEnding = '0115';
const lateByMs = 2 * 60_000;

/** Not journaled. Links expire by real time: hours of service time may pass in seconds. */
export const pageRecordingPath = '/_page/recordings/:conversation_id';

/** Recordings behind the `audio` address of operation 6, for the API key or an unexpired signature. */
export function installAudio(app: FastifyInstance, service: Service): void {
  const links = new AudioLinks();
  service.recordingAddress = (baseUrl, conversationId, now) => links.addressOf(baseUrl, conversationId, now);
  const { clock } = service;
  const answer = (request: FastifyRequest, reply: FastifyReply, now: number): FastifyReply => {
    const id = pathParameter(request, 'conversation_id');
    admit(request, id, service, { links, now });
    const call = service.state.conversations.get(id);
    if (call === undefined) throw missingConversation(service, id);
    if (!isAvailable(call, service)) {
      const message = `Conversation "${id}" has no recording: nobody answered, it is not over, or the recording is not stored yet.`;
      throw new ServiceError(404, message, { code: 'recording_not_found' });
    }
    return sendRecording(request, reply, id, recordingOf(service.settings.seed, call));
  };
  serveRoutes(app, service, { recording: ({ request, reply }) => answer(request, reply, clock.now()) });
  app.get(pageRecordingPath, async (request, reply) => answer(request, reply, clock.realNow()));
}

/** The call must be recorded (`isRecorded`) and over. */
export function recordingOf(seed: string, call: Call): Recording {
  const { turns, endedAt } = talkOf(seed, call);
  return new Recording({
    turns,
    answeredAt: call.course?.answeredAt ?? endedAt,
    endedAt: call.course?.endedAt ?? endedAt,
    agentHertz: agentPitch(configOf(call).tts?.voice_id ?? ''),
    calleeHertz: recipientPitch(call.to),
  });
}

function admit(
  request: FastifyRequest,
  id: string,
  { settings, schemas }: Service,
  { links, now }: { links: AudioLinks; now: number },
): void {
  const { expires, signature } = readQuery(request, schemas.recording);
  const facts = factsOf(settings);
  const apiKey = apiKeyIn(request.headers, facts);
  if (apiKey !== null || expires === undefined || signature === undefined) {
    authenticate(apiKey, settings.apiKeys, !facts.contract);
    return;
  }
  const verdict = links.check(id, expires, signature, now);
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

function sendRecording(request: FastifyRequest, reply: FastifyReply, id: string, recording: Recording) {
  const { etag, bytes } = recording;
  reply
    .header('etag', etag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-cache')
    .header('content-disposition', `inline; filename="${id}.wav"`)
    .type('audio/wav');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const condition = request.headers['if-range'];
  const rangeHeader = condition === undefined || condition === etag ? request.headers.range : undefined;
  const range = readByteRange(rangeHeader, bytes);
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send(Buffer.alloc(0));
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  if (range !== null) reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes}`);
  reply.header('content-length', last - first + 1);
  return reply.send(Readable.from(recording.read(first, last), { objectMode: false }));
}

/** Null means everything: no header, a malformed one or several ranges. */
function readByteRange(header: string | undefined, length: number): { first: number; last: number } | 'unsatisfiable' | null {
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

const windowSeconds = 3_600;

/** Recording URLs that need no API key, valid for one to two hours and constant for an hour. */
class AudioLinks {
  readonly #key = randomBytes(32);

  /** `now`: epoch ms of the clock that expires the link. */
  addressOf(baseUrl: string, conversationId: string, now: number): string {
    const expires = (Math.floor(now / 1000 / windowSeconds) + 2) * windowSeconds;
    const query = `expires=${expires}&signature=${this.#sign(conversationId, expires).toString('base64url')}`;
    return `${baseUrl}${routes.recording.path.replace(':conversation_id', encodeURIComponent(conversationId))}?${query}`;
  }

  check(conversationId: string, expires: number, signature: string, now: number): 'valid' | 'expired' | 'forged' {
    const given = Buffer.from(signature, 'base64url');
    const right = this.#sign(conversationId, expires);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged';
    return now < expires * 1000 ? 'valid' : 'expired';
  }

  #sign(conversationId: string, expires: number): Buffer {
    return createHmac('sha256', this.#key).update(`${conversationId}\n${expires}`).digest();
  }
}
