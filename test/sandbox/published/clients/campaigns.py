"""The main jobs of outbound campaigns, by the published client alone. Tells on stdout, as JSON, what it was answered."""

import json
import sys
import urllib.request

from elevenlabs import ElevenLabs, SubmitCampaignRecipient
from elevenlabs.conversational_ai.outbound_campaigns import SubmitCampaignRequestChannelConfig_Phone
from elevenlabs.core import ApiError

base_url, api_key, scheduled_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = ElevenLabs(base_url=base_url, api_key=api_key)
campaigns = client.conversational_ai.outbound_campaigns


def checked(answer):
    """The client takes whatever comes; here it has to be what the published types say."""
    return type(answer).model_validate(answer.model_dump())


def let_pass(ms):
    request = urllib.request.Request(base_url + "/_sandbox/clock/advance", json.dumps({"ms": ms}).encode())
    request.add_header("content-type", "application/json")
    urllib.request.urlopen(request).close()


def create(key, numbers, **more):
    return checked(
        campaigns.create(
            call_name="Reminders " + key,
            agent_id="agent_reminders",
            recipients=[
                SubmitCampaignRecipient(
                    id=f"row {place}",
                    phone_number=number,
                    conversation_initiation_client_data={"dynamic_variables": {"name": "Robin"}, "user_id": f"user {place}"},
                )
                for place, number in enumerate(numbers)
            ],
            channel_config=SubmitCampaignRequestChannelConfig_Phone(agent_phone_number_id="pn_main"),
            idempotency_key=key,
            **{"variant": "simple", **more},
        )
    )


def refusal(job):
    try:
        job()
    except ApiError as error:
        return [type(error).__name__, error.status_code]


told = {}
first = create("one", ["+12125550100", "+12125550101"], target_concurrency_limit=1)
id = first.campaign.campaign_id
repeat = create("one", ["+12125550100", "+12125550101"], target_concurrency_limit=1)
told["created"] = [first.created, repeat.created, repeat.campaign.campaign_id == id]
told["held back"] = [checked(campaigns.pause(id)).status, checked(campaigns.resume(id)).status]
let_pass(3_600_000)
told["status"] = checked(campaigns.get(id)).status
told["progress"] = checked(campaigns.get_progress(id)).leads.finished_by_disposition
leads = checked(campaigns.leads.list(id)).leads
told["leads"] = [[lead.recipient_id, lead.user_id, lead.attempt_count, lead.terminal_disposition] for lead in leads]
calls = checked(campaigns.calls.list(id, call_result=["answered", "busy"])).calls
told["calls"] = [[call.call_result, call.outcome, call.lead_id == lead.lead_id] for call, lead in zip(calls, leads)]
record = client.conversational_ai.conversations.get(calls[-1].conversation_id)
campaign_of_record = record.metadata.batch_call.campaign
told["record"] = [campaign_of_record.campaign_id == id, campaign_of_record.campaign_lead_id == leads[-1].lead_id]

later = create("two", ["+12125550102", "+12125550103"], scheduled_time_unix=scheduled_at)
told["later"] = [later.within_calling_window, later.campaign.scheduled_time_unix == scheduled_at]
lead = checked(campaigns.leads.list(later.campaign.campaign_id, search="0102")).leads[0]
told["removed"] = checked(campaigns.leads.delete(later.campaign.campaign_id, lead.lead_id)).has_calls_in_flight
told["lead"] = checked(campaigns.leads.get(later.campaign.campaign_id, lead.lead_id)).terminal_disposition
told["stopped"] = checked(campaigns.stop(later.campaign.campaign_id)).status
third = create("three", ["+12125550104"], scheduled_time_unix=scheduled_at)
told["all"] = [
    checked(campaigns.pause_all()).paused_campaign_ids == [third.campaign.campaign_id],
    checked(campaigns.stop_all()).stopped_campaign_ids == [third.campaign.campaign_id],
]
page = checked(campaigns.list(page_size=2))
rest = checked(campaigns.list(page_size=2, cursor=page.next_cursor))
told["listed"] = [each.call_name for each in page.campaigns + rest.campaigns]
told["found"] = [each.call_name for each in campaigns.list(search="two", status=["stopped", "active"]).campaigns]
told["refused"] = [
    refusal(lambda: create("four", ["+12125550100"], variant="advanced")),
    refusal(lambda: campaigns.get("camp_none")),
]
print(json.dumps(told))
