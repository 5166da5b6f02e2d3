import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api, ApiContext } from '../../api/core/app.ts';
import { ProblemError } from '../../api/core/problem.ts';
import { pageHeaders } from '../../../presentation/html/page-shell.ts';
import { deleteDraft, sweepDrafts } from '../../../ledger/console/drafts.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { keepRehearsal } from '../../../ledger/console/rehearsals.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { apiCall } from '../core/action.ts';
import { callApi, refusalOf } from '../core/call-api.ts';
import { campaignPath } from '../core/links.ts';
import { leaveNotice } from '../core/session.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { beginDraft, replaceList } from './begin.ts';
import { callsStep } from './calls-step.ts';
import { checkStep } from './check-step.ts';
import { columnsStep } from './columns-step.ts';
import { campaignYaml, withDraftFiles } from './content.ts';
import { renderExample, wordsStep } from './words-step.ts';
import { listStep, newCampaignView, sizeText } from './list-step.ts';
import { problemsOfStep, type FieldProblem, problemsOfSent, withSent } from './reading.ts';
import { ListRefusedError, withReceivedList } from './receive-list.ts';
import { Rehearsals } from './rehearsals.ts';
import { campaignRehearsalView, rehearsalPath, rehearsalView } from './rehearsal-view.ts';
import { keepDraft, openDraft, type OpenDraft } from './settings.ts';
import { formSteps, stepPath, steps, type FormStep } from './steps.ts';
import { html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';

const hidden = { config: { role: 'anybody' }, schema: { hide: true } } as const;
const sweepEveryMs = 3_600_000;

/** How the page asks and answers, whatever is asked for. */
export interface DraftConsole {
  app: Api;
  context: ApiContext;
  asked: (request: FastifyRequest) => Promise<ViewRequest>;
  send: (exchange: Exchange, viewed: ViewRequest, view: View) => FastifyReply;
  /** As it stands, without the document around it. */
  sendPart: (reply: FastifyReply, markup: string) => FastifyReply;
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** New campaigns, from the upload of a list to the start. Drafts lie in the database: any process that serves it goes on with them. */
export function installDrafts(inside: Api, console: DraftConsole): void {
  const { app, context, asked, send } = console;
  const { store } = context;
  sweepAsLongAs(app, context);
  const rehearsals = new Rehearsals(context);
  app.addHook('preClose', async () => rehearsals.close());

  const operating = async (request: FastifyRequest): Promise<ViewRequest> => {
    const viewed = await asked(request);
    if (may(viewed, 'operate')) return viewed;
    const { name, role } = viewed.holder;
    throw new ProblemError(403, 'role', `This takes the role operate; the token of ${name} has ${role}.`);
  };
  const redirect = (reply: FastifyReply, to: string) => reply.headers(pageHeaders).redirect(to, 303);
  const received = async (exchange: Exchange, refuse: (error: ListRefusedError) => Promise<View>, work: Parameters<typeof withReceivedList<string>>[1]) => {
    try {
      return redirect(exchange.reply, await withReceivedList(exchange.request, work));
    } catch (error) {
      if (!(error instanceof ListRefusedError)) throw error;
      return send(exchange, await asked(exchange.request), await refuse(error));
    }
  }; // prettier-ignore
  const refusedList = ({ message, fields }: ListRefusedError) => ({ fields, problems: [{ field: 'list', message }] });

  inside.get('/new', hidden, async (request, reply) => {
    const viewed = await operating(request);
    return send({ request, reply }, viewed, await newCampaignView(viewed));
  });
  inside.post('/new', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const refuse = (error: ListRefusedError) => newCampaignView(viewed, refusedList(error), error.status);
    return received({ request, reply }, refuse, async (list) => stepPath((await beginDraft(viewed, list)).draftId, 'columns'));
  });
  inside.get('/new/:draft', hidden, async (request, reply) => {
    const { draft, done } = await openDraft(await operating(request));
    return redirect(reply, stepPath(draft.draftId, formSteps.find((step) => !done.includes(step)) ?? 'check'));
  });
  inside.get('/new/:draft/list', hidden, async (request, reply) => {
    const viewed = await operating(request);
    return send({ request, reply }, viewed, listStep(await openDraft(viewed)));
  });
  inside.post('/new/:draft/list', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const open = await openDraft(viewed);
    const refuse = async (error: ListRefusedError) => listStep(open, refusedList(error), error.status);
    return received({ request, reply }, refuse, async (list) => {
      await replaceList(viewed, open, list);
      return stepPath(open.draft.draftId, 'columns');
    });
  });

  for (const step of formSteps) {
    inside.get(`/new/:draft/${step}`, hidden, async (request, reply) => {
      const viewed = await operating(request);
      const open = await openDraft(viewed);
      const problems = open.done.includes(step) ? await problemsOfStep(open, step, viewed.now) : [];
      return send({ request, reply }, viewed, await showStep(viewed, open, { step, problems }));
    });
    inside.post(`/new/:draft/${step}`, hidden, async (request, reply) => {
      const viewed = await operating(request);
      const before = await openDraft(viewed);
      const open = withSent(before, step, sentBy(request));
      const problems = await problemsOfSent(viewed, open, step);
      if (problems.length > 0) {
        const unsaved = { ...open, done: before.done };
        return send({ request, reply }, viewed, await showStep(viewed, unsaved, { step, problems, status: 422 }));
      }
      await keepDraft(viewed, open);
      const next = steps[steps.findIndex(({ name }) => name === step) + 1]?.name ?? 'check';
      return redirect(reply, stepPath(open.draft.draftId, next));
    });
  }
  inside.post('/new/:draft/example', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const open = withSent(await openDraft(viewed), 'words', sentBy(request));
    if (request.headers['x-page-part'] === undefined)
      return send({ request, reply }, viewed, await showStep(viewed, open, { step: 'words', problems: [] }));
    return console.sendPart(reply, (await renderExample(open, viewed.now)).text);
  });

  inside.get('/new/:draft/check', hidden, async (request, reply) => {
    const viewed = await operating(request);
    return send({ request, reply }, viewed, await checkStep(viewed, await openDraft(viewed), { rehearsals }));
  });
  inside.get('/new/:draft/rehearsal', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const open = await openDraft(viewed);
    return send({ request, reply }, viewed, rehearsalView(open, await rehearsals.of({ draftId: open.draft.draftId })));
  });
  inside.get('/campaigns/:campaign/rehearsal', hidden, async (request, reply) => {
    const viewed = await asked(request);
    const { campaignId } = await requireCampaign(store, viewed.params['campaign'] ?? '');
    return send({ request, reply }, viewed, campaignRehearsalView(campaignId, await rehearsals.of({ campaignId })));
  });
  inside.post('/new/:draft/rehearsal', hidden, async (request, reply) => {
    const open = await openDraft(await operating(request));
    const { draftId } = open.draft;
    if (sentBy(request).get('stop') === 'yes') rehearsals.stop(draftId);
    else if (!(await rehearsals.begin(open)))
      throw new ProblemError(409, 'rehearsing', 'Another draft is being rehearsed. Begin this one when it has ended.');
    return redirect(reply, rehearsalPath(draftId));
  });
  inside.post('/new/:draft/check', hidden, async (request, reply) => {
    const viewed = await operating(request);
    const sent = sentBy(request);
    const open = await openDraft(viewed).catch(async (error: unknown) => {
      const id = sent.get('campaign') ?? '';
      if ((await findCampaign(store.db, id)) === undefined) throw error;
      leaveNotice(request, reply, 'The draft is not here any more; this campaign has its id.');
      return campaignPath(id);
    });
    if (typeof open === 'string') return redirect(reply, open);
    const called = await withDraftFiles(store, open, async ({ asForm }) =>
      callApi(app, request, {
        ...apiCall('createCampaign', {}, { allow_partial: String(sent.get('allow_partial') === 'yes') }),
        body: await asForm(),
        key: sent.get('key') ?? '',
      }),
    );
    if (called.status >= 400) {
      const view = await checkStep(viewed, open, { refused: refusalOf(called), status: called.status, rehearsals });
      return send({ request, reply }, viewed, view);
    }
    const { campaignId, rowsTotal } = called.body as { campaignId: string; rowsTotal: number };
    await keepRehearsal(store, open.draft.draftId, campaignId);
    await deleteDraft(store, open.draft.draftId);
    leaveNotice(request, reply, `${campaignId} is started with ${rowsTotal.toLocaleString('en')} rows.`);
    return redirect(reply, campaignPath(campaignId));
  });

  inside.get('/new/:draft/campaign.yaml', hidden, async (request, reply) => {
    const { draft, fields } = await openDraft(await operating(request));
    return reply
      .headers({ ...pageHeaders, 'content-disposition': 'attachment; filename="campaign.yaml"' })
      .type('application/yaml; charset=utf-8')
      .serializer(String)
      .send(campaignYaml(fields, draft.list.name));
  });
  inside.get('/new/:draft/discard', hidden, async (request, reply) => {
    const viewed = await operating(request);
    return send({ request, reply }, viewed, discardView(await openDraft(viewed)));
  });
  inside.post('/new/:draft/discard', hidden, async (request, reply) => {
    const { draft } = await openDraft(await operating(request));
    rehearsals.stop(draft.draftId);
    await deleteDraft(store, draft.draftId);
    leaveNotice(request, reply, 'The draft is discarded, and its list is deleted.');
    return redirect(reply, '/new');
  });
}

function showStep(
  viewed: ViewRequest,
  open: OpenDraft,
  { step, problems, status = 200 }: { step: FormStep; problems: FieldProblem[]; status?: number },
): Promise<View> | View {
  if (step === 'columns') return columnsStep(open, problems, status);
  if (step === 'words') return wordsStep(open, { problems, now: viewed.now, status });
  return callsStep(viewed, open, problems, status);
}

/** What a form has sent; nothing where it was none. */
function sentBy({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

/** Forgotten drafts go when the server begins, and hourly from then on. */
function sweepAsLongAs(app: Api, context: ApiContext): void {
  const sweep = () =>
    sweepDrafts(context.store, context.now()).catch((error: unknown) => {
      context.logger.warn({ code: codeOf(error) }, 'forgotten drafts were not deleted');
    });
  const timer = setInterval(() => void sweep(), sweepEveryMs);
  timer.unref();
  app.addHook('onReady', async () => sweep());
  app.addHook('preClose', async () => clearInterval(timer));
}

/** Asks whether a draft is to be deleted. */
function discardView({ draft, fields }: OpenDraft): View {
  return {
    title: 'Discard this draft?',
    section: 'new',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign']], // prettier-ignore
    body: html`<section class="panel">
      <p>
        The draft ${printable(fields['id'] ?? '')} and its list ${printable(draft.list.name)} (${sizeText(draft.list.bytes)}) are deleted.
        Nobody was called. This cannot be undone.
      </p>
      <form class="act" method="post">
        <p class="actions">
          <button class="danger">Discard the draft</button>
          <a href="${stepPath(draft.draftId, 'list')}">Back, change nothing</a>
        </p>
      </form>
    </section>`,
  };
}
