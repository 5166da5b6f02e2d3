"""The main jobs of the published client for Python, against the address and with the key that it is given. Prints what came of each."""

import http.server
import json
import sys
import threading
import time
import urllib.request

from elevenlabs import (
    ConversationInitiationClientDataRequestInput,
    ElevenLabs,
    OutboundCallRecipient,
    SubmitCampaignRecipient,
)
from elevenlabs.conversational_ai.conversation import Conversation, ConversationInitiationData
from elevenlabs.conversational_ai.phone_numbers.types import PhoneNumbersCreateRequestBody_Twilio
from elevenlabs.core.api_error import ApiError
from elevenlabs.errors import BadRequestError

base_url = sys.argv[1]
client = ElevenLabs(base_url=base_url, api_key="sk_sandbox_ok")
convai = client.conversational_ai
done = {}


def until(read, is_done):
    last = time.monotonic() + 30
    while time.monotonic() < last:
        value = read()
        if is_done(value):
            return value
        time.sleep(0.02)
    raise AssertionError(f"still {value}")


def refused(ask):
    try:
        ask()
    except ApiError as error:
        return error
    raise AssertionError("was not refused")


events = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        events.append((body, self.headers["svc-signature"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args):
        pass


receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
secret = "whsec_of_the_published_clients"
webhook = {"url": f"http://127.0.0.1:{receiver.server_port}/", "secret": secret, "events": ["post_call_transcription"]}
order = urllib.request.Request(
    f"{base_url}/_sandbox/webhooks", json.dumps(webhook).encode(), {"content-type": "application/json"}
)
urllib.request.urlopen(order).close()

agent_id = convai.agents.create(
    name="Made by a client",
    conversation_config={"agent": {"first_message": "Hello {{name}}.", "prompt": {"prompt": "Be brief."}}},
    platform_settings={"overrides": {"conversation_config_override": {"agent": {"first_message": True}}}},
).agent_id
convai.agents.update(agent_id, name="Changed by a client")
agent = convai.agents.get(agent_id)
listed = convai.agents.list(search="Changed by").agents
done["agents"] = [agent.name, agent.conversation_config.agent.first_message, [each.name for each in listed]]

number_id = convai.phone_numbers.create(
    request=PhoneNumbersCreateRequestBody_Twilio(phone_number="+12025550111", label="Client", sid="AC1", token="secret")
).phone_number_id
convai.phone_numbers.update(number_id, agent_id=agent_id)
number = convai.phone_numbers.get(number_id)
done["numbers"] = [number.phone_number, number.assigned_agent.agent_id == agent_id, len(convai.phone_numbers.list())]


def client_data(ending):
    return ConversationInitiationClientDataRequestInput(
        user_id=f"user {ending}",
        dynamic_variables={"name": "Robin", "carillon_ref": f"ledger:b/{ending}/1"},
        conversation_config_override={"agent": {"first_message": "Good day, {{name}}."}},
    )


recipients = [
    OutboundCallRecipient(
        id=f"ref:{ending}", phone_number=f"+1212555{ending}", conversation_initiation_client_data=client_data(ending)
    )
    for ending in ["0100", "0101"]
]
batch = convai.batch_calls.create(
    call_name="By a client",
    agent_id=agent_id,
    agent_phone_number_id=number_id,
    recipients=recipients,
    target_concurrency_limit=2,
)
report = until(lambda: convai.batch_calls.get(batch.id), lambda each: each.status == "completed")
in_workspace = convai.batch_calls.list(agent_id=agent_id).batch_calls
done["batches"] = [batch.name, [f"{each.id} {each.status}" for each in report.recipients], len(in_workspace)]

later = convai.batch_calls.create(
    call_name="Later",
    agent_id=agent_id,
    agent_phone_number_id=number_id,
    recipients=[OutboundCallRecipient(id="late", phone_number="+12125550130")],
    scheduled_time_unix=batch.created_at_unix + 30 * 86_400,
)
cancelled = convai.batch_calls.cancel(later.id)
withdrawn = convai.batch_calls.get(later.id).recipients[0].status
convai.batch_calls.delete(later.id)
done["cancelled"] = [later.status, cancelled.status, withdrawn, len(convai.batch_calls.list(agent_id=agent_id).batch_calls)]

campaign_order = {
    "call_name": "A campaign",
    "agent_id": agent_id,
    "recipients": [
        SubmitCampaignRecipient(
            id="lead", phone_number="+12125550103", conversation_initiation_client_data=client_data("0103")
        )
    ],
    "channel_config": {"channel": "phone", "agent_phone_number_id": number_id},
    "idempotency_key": "key of a client",
    "variant": "simple",
}
first = convai.outbound_campaigns.create(**campaign_order)
repeated = convai.outbound_campaigns.create(**campaign_order)
over = until(lambda: convai.outbound_campaigns.get(first.campaign.campaign_id), lambda each: each.status == "completed")
leads = convai.outbound_campaigns.leads.list(first.campaign.campaign_id).leads
done["campaigns"] = [first.created, repeated.created, over.campaign_id == repeated.campaign.campaign_id, sorted(each.recipient_id for each in leads)]

found = convai.conversations.list(
    agent_id=agent_id, dynamic_variable_params="carillon_ref:eq:ledger:b/0100/1", sort_direction="asc", page_size=5
).conversations
of_user = convai.conversations.list(user_id="user 0101", call_duration_max_secs=0).conversations
conversation_id = found[0].conversation_id
record = until(lambda: convai.conversations.get(conversation_id), lambda each: each.status == "done")
audio = b"".join(convai.conversations.audio.get(conversation_id))
done["conversations"] = [
    len(found),
    len(of_user),
    record.metadata.batch_call.batch_call_recipient_id,
    record.metadata.phone_call.call_result,
    record.transcript[0].message,
    len(audio) > 1_000,
]

signed = convai.conversations.get_signed_url(agent_id=agent_id).signed_url
token = convai.conversations.get_webrtc_token(agent_id=agent_id).token
done["credentials"] = ["conversation_signature=" in signed, len(token.split("."))]

heard = []
talk = Conversation(
    client,
    agent_id,
    requires_auth=True,
    config=ConversationInitiationData(dynamic_variables={"name": "Kim"}),
    callback_agent_response=heard.append,
)
talk.start_session()
until(lambda: heard, bool)
talk.send_user_message("Please tell me more.")
until(lambda: heard, lambda lines: len(lines) > 1)
talk.end_session()
done["talk"] = [heard[0], (talk.wait_for_session_end() or "").startswith("conv_")]

single = convai.twilio.outbound_call(
    agent_id=agent_id,
    agent_phone_number_id=number_id,
    to_number="+12125550103",
    conversation_initiation_client_data=ConversationInitiationClientDataRequestInput(dynamic_variables={"name": "Robin"}),
)
call = until(lambda: convai.conversations.get(single.conversation_id), lambda each: each.status == "done")
done["single"] = [single.success, call.metadata.phone_call.external_number, call.metadata.phone_call.call_result]

body, signature = until(lambda: events, bool)[0]
told = client.webhooks.construct_event(body, signature, secret)
try:
    client.webhooks.construct_event(f"{body} ", signature, secret)
    forged = "accepted"
except BadRequestError:
    forged = "refused"
done["webhooks"] = [told["type"], "conversation_id" in told["data"], forged]

unbuilt = refused(lambda: convai.knowledge_base.list())
done["not_built"] = [unbuilt.status_code, unbuilt.body["detail"]["code"]]
stranger = ElevenLabs(base_url=base_url, api_key="sk_wrong")
unknown = refused(lambda: stranger.conversational_ai.agents.list())
done["unauthorized"] = [unknown.status_code, unknown.body["detail"]["status"]]
convai.conversations.delete(conversation_id)
convai.phone_numbers.delete(number_id)
convai.agents.delete(agent_id)
done["deleted"] = refused(lambda: convai.agents.get(agent_id)).status_code

print(json.dumps(done))
