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

/** What a worker is started with so that its spans are sent. */
export interface Traces {
  activity: ActivityInterceptorsFactory;
  sinks: InjectedSinks<OpenTelemetrySinks>;
  /** Adds events that were committed to the span of the activity that committed them. */
  note(events: readonly NewEvent[]): void;
  stop(): Promise<void>;
}

/** More events than one activity commits: of a span's oldest events none is dropped. */
const mostEventsOfSpan = 100_000;

/**
 * Sends spans of workflows and activities to where `OTEL_EXPORTER_OTLP_ENDPOINT` says, by OTLP over HTTP: Temporal's interceptors make
 * them, and each round of a campaign is one trace. What became of batches and calls is an event of the span in which it was committed. No
 * span holds a name, a number or a cell of a list. If the collector does not answer, spans are lost, never calls.
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

/** What a span shows of an event: ids, states and dispositions. */
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

/** A span of a workflow, which Temporal's interceptors write in the form of OpenTelemetry 1, as OpenTelemetry 2 reads it. */
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
