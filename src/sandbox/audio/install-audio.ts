import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import { AudioLinks } from './audio-links.ts';
import { Recordings } from './recordings.ts';
import { serveRecordings } from './serve-recordings.ts';
import { createSpeech, type Speech } from './speak.ts';

/** Recordings of calls, and the voices in which agents speak. */
export function installAudio(app: FastifyInstance, service: Service): { speech: Speech; recordings: Recordings } {
  const { settings } = service;
  const speech = createSpeech({ speech: settings.speech });
  const recordings = new Recordings(settings.seed, speech);
  const links = new AudioLinks();
  service.recordingAddress = (baseUrl, conversationId, now) => links.addressOf(baseUrl, conversationId, now);
  service.features.push({ leave: () => recordings.clear(), forget: (id) => recordings.forget(id) });
  serveRecordings(app, service, { recordings, links });
  return { speech, recordings };
}
