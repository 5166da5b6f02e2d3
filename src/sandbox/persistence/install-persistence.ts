import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { restoreImage, takeImage, type ServiceImage } from './service-image.ts';
import { exportState, importState } from './state-document.ts';
import { sandboxKey } from '../http/authentication.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import { deriveId } from '../core/random.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

interface Snapshot {
  snapshotId: string;
  name: string | null;
  image: ServiceImage;
}

const mostSnapshots = 20;
const snapshotBody = z.strictObject({ name: z.string().min(1).max(200).optional() });
/** What an export gave; it is checked piece by piece as it is read. */
const exported = z.looseObject({});
/** A state with a hundred thousand conversations has room in it. */
const longestImportBytes = 512 * 1024 * 1024;

/** The whole state: kept to come back to, taken out as one document, and put in again. */
export function installPersistence(app: FastifyInstance, service: Service): void {
  const { settings, events, clock, clockMover } = service;
  /** They live in memory, through resets too, and end with the sandbox. */
  const snapshots = new Map<string, Snapshot>();
  let taken = 0;
  const find = (id: string): Snapshot => existing(snapshots.get(id), 'snapshot', id);

  serveControl(app, 'GET /_sandbox/snapshots', {
    says: 'Lists the snapshots.',
    answer: () => ({ snapshots: [...snapshots.values()].map(describe) }),
  });

  serveControl(app, 'POST /_sandbox/snapshots', {
    says: 'Keeps the whole state.',
    body: snapshotBody,
    bodyIsOptional: true,
    answer: ({ body }) => {
      const { name = null } = body();
      if (snapshots.size >= mostSnapshots) {
        const message = `There are ${mostSnapshots} snapshots already; each is a whole state in memory. Delete one first.`;
        throw conflict('too_many_snapshots', message);
      }
      const snapshotId = deriveId('snapshot', settings.seed, (taken += 1));
      const snapshot = { snapshotId, name, image: takeImage(service) };
      snapshots.set(snapshotId, snapshot);
      return describe(snapshot);
    },
  });

  serveControl(app, 'POST /_sandbox/snapshots/:snapshot_id/restore', {
    says: 'Puts a kept state back.',
    answer: async ({ id }) => {
      const snapshot = find(id());
      await clockMover.inTurn(() => restoreImage(service, snapshot.image));
      events.emit('state', clock.now(), { change: 'restored', snapshot_id: snapshot.snapshotId });
      return { restored: true, ...describe(snapshot), now: isoTime(clock.now()) };
    },
  });

  serveControl(app, 'DELETE /_sandbox/snapshots/:snapshot_id', {
    says: 'Forgets a snapshot.',
    answer: ({ id }) => {
      snapshots.delete(find(id()).snapshotId);
      return {};
    },
  });

  serveControl(app, 'GET /_sandbox/export', {
    says: 'Gives the whole state as one document.',
    answer: ({ reply }) =>
      reply
        .type('application/json; charset=utf-8')
        .send(exportState(takeImage(service), settings.seed, [...settings.apiKeys, sandboxKey])),
  });

  serveControl(app, 'POST /_sandbox/import', {
    says: 'Puts an exported state in the place of this one.',
    body: exported,
    longestBytes: longestImportBytes,
    answer: async ({ request }) => {
      const image = importState(request.body, settings.seed);
      await clockMover.inTurn(() => restoreImage(service, image));
      events.emit('state', clock.now(), { change: 'imported' });
      return { imported: true, now: isoTime(clock.now()) };
    },
  });
}

function describe({ snapshotId, name, image }: Snapshot): Record<string, unknown> {
  return {
    snapshot_id: snapshotId,
    name,
    taken_at: isoTime(image.now),
    agents: image.agents.filter(({ agent }) => agent !== null).length,
    phone_numbers: image.numbers.length,
    calls: image.calls.length,
  };
}
