import type { FastifyInstance } from 'fastify';
import { createParity, type Parity } from './parity.ts';
import { serveControl } from '../http/serve-operation.ts';

/** Where each operation and field comes from. Made when it is first asked for. */
export function controlParity(app: FastifyInstance): void {
  let parity: Parity | undefined;
  serveControl(
    app,
    'GET',
    'parity',
    { says: 'Tells of each operation and field where it comes from.' },
    () => (parity ??= createParity()),
  );
}
