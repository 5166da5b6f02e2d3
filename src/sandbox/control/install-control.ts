import type { FastifyInstance } from 'fastify';
import type { Service } from '../service.ts';
import { controlFaults } from './faults.ts';
import { controlGates } from './gates.ts';
import { controlRecords } from './records.ts';
import { controlWorld } from './world.ts';

/** The sandbox's own interface, under /_sandbox: no key, not in the journal, not part of the service. */
export function installControl(app: FastifyInstance, service: Service): void {
  controlRecords(app, service);
  controlWorld(app, service);
  controlFaults(app, service);
  controlGates(app, service);
}
