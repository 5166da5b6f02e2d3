import { createHash } from 'node:crypto';
import { SpanKind, SpanStatusCode, TraceFlags, type Attributes } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace';
import type { NewEvent } from '../rules/events.ts';
import {
  readTracedBatches,
  readTracedCalls,
  readTracedRounds,
  type TracedBatch,
  type TracedCall,
  type TracedRound,
} from '../ledger/read/traced.ts';
import type { Logger } from '../shared/logger.ts';
import type { Store } from '../ledger/tx.ts';

/** Which span: the ids of batches and calls are apart only within their kind. */
interface SpanName {
  name: 'round' | 'batch' | 'call';
  id: string;
}

/** What a span is made of. Its id follows from the ledger's, so a call has the same span whichever worker tells of it. */
interface Told extends SpanName {
  round: RoundName;
  parent: SpanName | null;
  kind: SpanKind;
  from: number;
  to: number;
  failed?: boolean;
  attributes: Attributes;
}

interface RoundName {
  campaignId: string;
  round: number;
}

/** Batches whose verdict stands; of the others nothing is told. */
const decided = ['confirmed', 'refused', 'released', 'given_up'];

export interface Traces {
  /** Takes events that were committed; returns at once. */
  tell(events: readonly NewEvent[]): void;
  stop(): Promise<void>;
}

/**
 * Tells of each round as one OpenTelemetry trace: the round, its batches (request to verdict) and their calls (request to result, with the
 * id of the conversation), each sent when it is over, by OTLP over HTTP to where `OTEL_EXPORTER_OTLP_ENDPOINT` says. Times are service
 * time. No span holds a name, a number or a cell of a list. A collector that is away costs spans, never calls.
 */
export function traceCampaigns({ store, logger }: { store: Store; logger: Logger }): Traces {
  const named = resourceFromAttributes({ 'service.name': 'carillon' });
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter() });
  const send = (told: Told): void => processor.onEnd(spanOf(store.ledgerId, told, resource));
  let last = Promise.resolve();
  return {
    tell: (events) => {
      last = last
        .then(() => tellAll(store, events, send))
        .catch((error: unknown) => logger.debug({ error: String(error) }, 'spans could not be made'));
    },
    stop: async () => {
      await last;
      await processor.shutdown().catch((error: unknown) => logger.debug({ error: String(error) }, 'spans were lost'));
    },
  };
}

async function tellAll({ db }: Store, events: readonly NewEvent[], send: (told: Told) => void): Promise<void> {
  const settled = events.flatMap(({ type, attemptId }) => (type === 'attempt.settled' ? (attemptId ?? []) : []));
  for (const call of await readTracedCalls(db, settled)) send(tellCall(call));
  const verdicts = events.flatMap((event) =>
    event.type === 'batch.state' && decided.includes(event.data.state) ? (event.batchId ?? []) : [],
  );
  for (const batch of await readTracedBatches(db, verdicts)) send(tellBatch(batch));
  for (const event of events)
    if (event.type === 'round.ended')
      for (const round of await readTracedRounds(db, event.campaignId, event.data.round)) send(tellRound(round));
}

function tellCall({ attemptId, batchId, campaignId, round, disposition, conversationId, from, to }: TracedCall): Told {
  return {
    round: { campaignId, round },
    id: attemptId,
    parent: { name: 'batch', id: batchId },
    name: 'call',
    kind: SpanKind.CLIENT,
    from,
    to,
    failed: disposition === 'failed' || disposition === 'unknown',
    attributes: given({
      'carillon.campaign.id': campaignId,
      'carillon.call.id': attemptId,
      'carillon.call.disposition': disposition,
      'carillon.conversation.id': conversationId,
    }),
  };
}

function tellBatch({ batchId, campaignId, round, state, size, serviceBatchId, from, to }: TracedBatch): Told {
  return {
    round: { campaignId, round },
    id: batchId,
    parent: { name: 'round', id: '' },
    name: 'batch',
    kind: SpanKind.CLIENT,
    from,
    to,
    failed: state !== 'confirmed',
    attributes: given({
      'carillon.campaign.id': campaignId,
      'carillon.batch.id': batchId,
      'carillon.batch.state': state,
      'carillon.batch.size': size,
      'carillon.batch.service_id': serviceBatchId,
    }),
  };
}

function tellRound({ campaignId, round, workflowId, from, to }: TracedRound): Told {
  return {
    round: { campaignId, round },
    id: '',
    parent: null,
    name: 'round',
    kind: SpanKind.INTERNAL,
    from,
    to,
    attributes: { 'carillon.campaign.id': campaignId, 'carillon.round': round, temporalWorkflowID: workflowId },
  };
}

function given(attributes: Record<string, string | number | null>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)) as Attributes;
}

function spanOf(ledgerId: string, told: Told, resource: ReadableSpan['resource']): ReadableSpan {
  const { campaignId, round } = told.round;
  const name = [ledgerId, campaignId, String(round)];
  const context = ({ name: kind, id }: SpanName) => ({
    traceId: hashOf(name, 32),
    spanId: hashOf([...name, kind, id], 16),
    traceFlags: TraceFlags.SAMPLED,
  });
  return {
    name: told.name,
    kind: told.kind,
    spanContext: () => context(told),
    ...(told.parent === null ? {} : { parentSpanContext: context(told.parent) }),
    startTime: instant(told.from),
    endTime: instant(told.to),
    duration: instant(told.to - told.from),
    ended: true,
    status: { code: told.failed === true ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: told.attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: 'carillon' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
function instant(ms: number): [number, number] {
  return [Math.floor(ms / 1000), Math.round(ms % 1000) * 1e6];
}

function hashOf(parts: readonly string[], digits: number): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits);
}
