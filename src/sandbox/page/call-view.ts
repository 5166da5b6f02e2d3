import * as ui from '../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../presentation/html/html.ts';
import { textOf } from '../core/json.ts';
import { assess, followScript } from '../core/conversation/assess.ts';
import { talkOf } from '../core/conversation/talk-of.ts';
import type { Talk, Turn, Assessment } from '../core/state/talk.ts';
import { pageRecordingPath } from '../audio/install-audio.ts';
import type { Service } from '../core/service/service.ts';
import { callResults, isRecorded, stateOf, type Call } from '../core/state/call.ts';
import { findCall, agentLink, channelWords, directionOf, resultOf, talkMs } from './call-words.ts';
import { button, stateBadge, viewPath, missingView, type View, type ViewRequest } from './elements.ts';

const listenEveryMs = 1_000;

export function callView({ service, now, parameter }: ViewRequest): View {
  const call = findCall(service, parameter('id'));
  if (call === undefined) return missingView('call', 'calls', 'Calls');
  const state = stateOf(call, now);
  const talk = talkOf(service.settings.seed, call);
  return {
    title: call.to === '' ? 'Conversation' : `Call ${call.direction === 'inbound' ? 'from' : 'to'} ${call.to}`,
    ...(state === 'in_progress' && service.clock.speed > 0 ? { againMs: listenEveryMs } : {}),
    body: [
      html`<p class="crumb">${ui.link(viewPath('calls'), 'Calls')}</p>`,
      ui.panel('Facts', [callFacts(service, call, now), courseForms(call, now)], stateBadge(state)),
      call.recordDeleted
        ? ui.empty('The record of this conversation was deleted', 'Its transcript and its recording are gone for good.')
        : conversation(service, call, talk, now),
    ],
  };
}

function callFacts(service: Service, call: Call, now: number): Html {
  const { course } = call;
  const ms = talkMs(call, now);
  const ended = course !== null && now >= course.endedAt;
  return ui.facts([
    ['Result', resultOf(call, now)],
    ['Agent', agentLink(service, call.agentId)],
    ['Direction', directionOf(call)],
    ['Held', channelWords(call)],
    ['Talk time', ms === null ? null : ui.figure(ui.duration(ms))],
    ['Why it ended', ended ? course.terminationReason : null],
    ['Accepted', ui.instant(call.acceptedAt, 'full')],
    ['Dialled', call.dialedAt === null ? null : ui.instant(call.dialedAt)],
    ['Picked up', ms === null ? null : ui.instant(course?.answeredAt ?? null)],
    ['Ended', ended ? ui.instant(course.endedAt) : null],
    ['Number of the agent', numberOf(call)],
    ['Batch', call.batchId === null ? null : ui.link(viewPath('calls', { batch: call.batchId }), ui.id(call.batchId))],
    ['Conversation', call.recordedAt === null ? null : ui.id(call.conversationId)],
    ['Call', ui.id(call.callId)],
  ]);
}

function numberOf({ agentNumber, phoneNumberId }: Call): HtmlValue {
  if (agentNumber !== null) return ui.phone(agentNumber);
  return phoneNumberId === '' ? null : ui.id(phoneNumberId);
}

function courseForms(call: Call, now: number): HtmlValue {
  const state = stateOf(call, now);
  const request = `POST /_sandbox/calls/${call.callId}/course`;
  if ((call.channel ?? 'phone') !== 'phone') return null;
  if (state === 'in_progress')
    return html`<div class="actions">${button('Hang up now', { request, body: { hang_up: 'now' }, said: 'The call was hung up.' })}</div>`;
  if (state !== 'queued' && state !== 'dialing') return null;
  return html`<form class="actions" data-request="${request}" data-said="The course of the call is set.">
    <label
      >Outcome
      <select name="result">
        ${callResults.map((each) => html`<option value="${each}">${each.replace('_', ' ')}</option>`)}
      </select>
    </label>
    <button class="btn">Set</button>
  </form>`;
}

function conversation(service: Service, call: Call, talk: Talk, now: number): HtmlValue {
  const { course } = call;
  if (course === null || course.answeredAt === null || now < course.answeredAt)
    return ui.empty('Nothing was said yet', 'The transcript begins when somebody picks up.');
  const answeredAt = course.answeredAt;
  const turns = talk.turns.filter(({ at }) => at <= now);
  const recorded = isRecorded(course, talk, now);
  const analysed = now >= course.analysedAt;
  return [
    recorded ? recording(service, call) : null,
    ui.panel(
      'Transcript',
      turns.length === 0 ? ui.empty('Silence so far', 'No word has been said.') : transcript(turns, answeredAt),
      ui.aside(ui.count(turns.length, 'turn')),
    ),
    analysed ? outcome(followScript(assess(call.agent?.platform ?? {}, talk), course, now)) : null,
  ];
}

function recording(service: Service, call: Call): Html | null {
  const address = service.recordingAddress?.(service.baseUrl, call.conversationId, service.clock.realNow());
  if (address === undefined) return null;
  const { search } = new URL(address);
  const path = pageRecordingPath.replace(':conversation_id', encodeURIComponent(call.conversationId));
  return ui.panel(
    'Recording',
    html`<audio id="recording" controls preload="metadata" src="${path + search}"></audio>`,
    ui.aside('Agent on the left, person on the right'),
  );
}

function transcript(turns: readonly Turn[], answeredAt: number): Html {
  return html`<ol class="transcript">
    ${turns.map(
      (turn, index) =>
        html`<li id="turn-${index}" class="${turn.speaker}">
          <p class="speaker">
            ${turn.speaker === 'agent' ? 'Agent' : 'Person'} <span class="num">${ui.duration(turn.at - answeredAt)}</span>
            ${turn.interrupted ? ui.badge('wait', 'cut off') : null}
          </p>
          <p class="said">${turn.text}</p>
          ${(turn.tools ?? []).map(({ name, isError }) => html`<p class="tool">Tool ${name}${isError ? ', failed' : ''}</p>`)}
        </li>`,
    )}
  </ol>`;
}

const resultTones: Record<string, ui.Tone> = { success: 'good', failure: 'bad', unknown: 'quiet' };

function outcome({ evaluation, collected }: Assessment): HtmlValue {
  const criteria = Object.entries(evaluation);
  const values = Object.entries(collected);
  if (criteria.length === 0 && values.length === 0) return null;
  return ui.panel('What came of it', [
    html`<ul class="findings">
      ${criteria.map(
        ([id, { result, rationale }]) =>
          html`<li>
            <p><strong>${id}</strong> ${ui.badge(resultTones[result] ?? 'quiet', result)}</p>
            <p class="soft">${rationale}</p>
          </li>`,
      )}
      ${values.map(
        ([id, { value, rationale }]) =>
          html`<li>
            <p><strong>${id}</strong> <code>${value === null ? 'nothing' : textOf(value)}</code></p>
            <p class="soft">${rationale}</p>
          </li>`,
      )}
    </ul>`,
  ]);
}
