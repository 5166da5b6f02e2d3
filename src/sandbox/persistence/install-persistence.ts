import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { importState } from './import-state.ts';
import { restoreState, takeState } from './state.ts';
import { sandboxKey } from '../http/authentication.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import { deriveId } from '../core/random.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

const mostSnapshots = 20;
const snapshotBody = z.strictObject({ name: z.string().min(1).max(200).optional() });
/** An export; validated piece by piece as it is read. */
const exported = z.looseObject({});
/** Fits a state with a hundred thousand conversations. */
const longestImportBytes = 512 * 1024 * 1024;

/** Snapshots, export and import of the whole state. */
export function installPersistence(app: FastifyInstance, service: Service): void {
  const { settings, events, clock, clockMover } = service;
  const snapshots = new Map<string, ReturnType<typeof takeSnapshot>>();
  let taken = 0;

  serveControl(app, 'GET /_sandbox/snapshots', {
    says: 'Lists the snapshots.',
    answer: () => ({ snapshots: [...snapshots.values()].map(({ described }) => described) }),
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
      const snapshot = takeSnapshot(service, snapshotId, name);
      snapshots.set(snapshotId, snapshot);
      return snapshot.described;
    },
  });

  serveControl(app, 'POST /_sandbox/snapshots/:snapshot_id/restore', {
    says: 'Puts a kept state back.',
    answer: async ({ id }) => {
      const { state, credentials, described } = existing(snapshots.get(id()), 'snapshot', id());
      await clockMover.inTurn(() => {
        restoreState(service, state);
        service.state.credentials.restore(credentials);
      });
      events.emit('state', clock.now(), { change: 'restored', snapshot_id: described.snapshot_id });
      return { restored: true, ...described, now: isoTime(clock.now()) };
    },
  });

  serveControl(app, 'DELETE /_sandbox/snapshots/:snapshot_id', {
    says: 'Forgets a snapshot.',
    answer: ({ id }) => {
      existing(snapshots.get(id()), 'snapshot', id());
      snapshots.delete(id());
      return {};
    },
  });

  serveControl(app, 'GET /_sandbox/export', {
    says: 'Gives the whole state as one document.',
    answer: ({ reply }) => reply.type('application/json; charset=utf-8').send(exportState(service, [...settings.apiKeys, sandboxKey])),
  });

  serveControl(app, 'POST /_sandbox/import', {
    says: 'Puts an exported state in the place of this one.',
    body: exported,
    longestBytes: longestImportBytes,
    answer: async ({ body }) => {
      const state = importState(body(), settings.seed);
      await clockMover.inTurn(() => restoreState(service, state));
      events.emit('state', clock.now(), { change: 'imported' });
      return { imported: true, now: isoTime(clock.now()) };
    },
  });
}

function takeSnapshot(service: Service, snapshotId: string, name: string | null) {
  const state = takeState(service);
  return {
    state,
    /** Unused signed URLs and tokens; kept in memory only. */
    credentials: service.state.credentials.save(),
    described: {
      snapshot_id: snapshotId,
      name,
      taken_at: isoTime(state.now),
      agents: state.agents.filter(({ agent }) => agent !== null).length,
      phone_numbers: state.numbers.length,
      calls: state.calls.length,
    },
  };
}

/** Revoked keys are left out, header values for other services read `[redacted]`. */
function exportState(service: Service, keys: readonly string[]): string {
  const { faults, ...state } = takeState(service);
  const rules = faults.rules.map((kept) => ({ ...kept, revoked: [] }));
  const text = JSON.stringify({ ...state, faults: { ...faults, rules } }, redactValue);
  return keys.reduce((rest, key) => rest.replaceAll(key, redacted), text.replaceAll(secretParameter, `$1${redacted}`));
}

const redacted = '[redacted]';
const secretField = /token$|secret|password|authorization|signature$|^(x-|svc-)?api[-_]?key$/i;
/** Values are credentials for other services, under client-chosen names. */
const headerFields = new Set(['extra_headers', 'request_headers']);
const secretParameter = /([?&](?:conversation_signature|signature|access_token|token|x-api-key|api_key|apikey|key)=)[^&"'\s\\]*/gi;

function redactValue(name: string, value: unknown): unknown {
  if (headerFields.has(name) && typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.keys(value).map((header) => [header, redacted]));
  return secretField.test(name) && typeof value === 'string' ? redacted : value;
}
