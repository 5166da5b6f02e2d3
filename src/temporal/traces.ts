import { AsyncLocalStorage } from 'node:async_hooks';
import { context, propagation, ROOT_CONTEXT, trace, type Attributes, type Context, type ContextManager } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import {
  OpenTelemetryActivityInboundInterceptor,
  type OpenTelemetrySinks,
  type SerializableSpan,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { NewEvent } from '../rules/events.ts';
import type { Logger } from '../shared/logger.ts';

export interface Traces {
  activity: ActivityInterceptorsFactory;
  sinks: InjectedSinks<OpenTelemetrySinks>;
  /** Adds events to the span of the committing activity. */
  note(events: readonly NewEvent[]): void;
  stop(): Promise<void>;
}

/** More events than one activity commits, so that a span drops none. */
const mostEventsOfSpan = 100_000;

/**
 * Sends spans to `OTEL_EXPORTER_OTLP_ENDPOINT`, by OTLP over HTTP, one trace per round. Batch and call results are events of the committing
 * span. Spans contain no name, number or list cell. Without an answering collector spans are lost, never calls.
 */
export function traceCampaigns(logger: Logger): Traces {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'carillon' }))
    .merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter() });
  const provider = new TracerProvider({ resource, spanProcessors: [processor], spanLimits: { eventCountLimit: mostEventsOfSpan } });
  const tracer = provider.getTracer('carillon');
  context.setGlobalContextManager(contextsOfCalls());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const sendSpan = (span: SerializableSpan): void => processor.onEnd(readable(span, resource));
  return {
    activity: (activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity, { tracer }) }),
    sinks: { exporter: { export: { fn: (_workflow, spans) => spans.forEach(sendSpan) } } },
    note: (events) => {
      for (const event of events) {
        const facts = factsOf(event);
        if (facts !== null) trace.getActiveSpan()?.addEvent(event.type, facts);
      }
    },
    stop: () => provider.shutdown().catch((error: unknown) => logger.debug({ error: String(error) }, 'spans were lost')),
  };
}

/** Attributes of an event: ids, states and dispositions. */
function factsOf({ type, data, campaignId, batchId, attemptId }: NewEvent): Attributes | null {
  const ids = {
    'carillon.campaign.id': campaignId,
    ...(batchId === undefined ? {} : { 'carillon.batch.id': batchId }),
    ...(attemptId === undefined ? {} : { 'carillon.call.id': attemptId }),
  };
  if (type === 'batch.state') return { ...ids, 'carillon.batch.state': data.state };
  if (type === 'attempt.matched') return { ...ids, 'carillon.conversation.id': data.conversation };
  return type === 'attempt.settled' ? { ...ids, 'carillon.call.disposition': data.disposition } : null;
}

/** Keeps the active context across awaits. */
function contextsOfCalls(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, call, self, ...args) => storage.run(active, () => call.apply(self, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** Converts a span from OpenTelemetry 1, as Temporal's interceptors write it, to OpenTelemetry 2. */
function readable(
  { spanContext, parentSpanId, instrumentationLibrary, ...span }: SerializableSpan,
  resource: ReadableSpan['resource'],
): ReadableSpan {
  const { traceState: _, ...own } = spanContext;
  return {
    ...span,
    resource,
    instrumentationScope: instrumentationLibrary,
    spanContext: () => own,
    ...(parentSpanId === undefined ? {} : { parentSpanContext: { ...own, spanId: parentSpanId } }),
  };
}
