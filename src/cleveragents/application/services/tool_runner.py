"""ToolRunner: one tool call, with its checkpoints around it and its record before and after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from cleveragents.application.ports import (
    Clock,
    Database,
    IdSource,
    ToolBackend,
    Transaction,
)
from cleveragents.application.services.checkpoint_service import CheckpointService, Moment
from cleveragents.domain.checkpoint import CheckpointType, Trigger
from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.plan import Plan
from cleveragents.domain.plan_file import StepDefinition
from cleveragents.domain.resource import ResourceType
from cleveragents.domain.sandbox import SandboxRef
from cleveragents.domain.template import render_value
from cleveragents.domain.tool import ToolCall, ToolCallStatus, ToolInvocation, ToolSpec


@dataclass(frozen=True)
class StepContext:
    """The step under way and the sandboxes it may touch."""

    plan: Plan
    step_index: int
    step: StepDefinition
    sandboxes: Sequence[SandboxRef]

    @property
    def sandbox(self) -> SandboxRef:
        """Where the tool runs: the resource the step names, or the first."""
        for sandbox in self.sandboxes:
            if sandbox.resource == self.step.resource:
                return sandbox
        return self.sandboxes[0]

    @property
    def directory(self) -> str:
        """Where the tool starts; a database is a file in the directory of its sandbox."""
        resource = self.plan.definition.resources[self.sandbox.resource]
        path = self.sandbox.path
        return path.rpartition("/")[0] if resource.type is ResourceType.SQLITE else path


class ToolRunner:
    """Runs tools so that each call can be taken back."""

    def __init__(
        self,
        database: Database,
        tools: ToolBackend,
        checkpoints: CheckpointService,
        clock: Clock,
        id_source: IdSource,
    ) -> None:
        self._database = database
        self._tools = tools
        self._checkpoints = checkpoints
        self._clock = clock
        self._ids = id_source

    def spec(self, plan: Plan, name: str) -> ToolSpec:
        """Returns what the tool declares; the plan's own tools come before the built-in ones."""
        return plan.definition.tools.get(name) or self._tools.specs()[name]

    def run(self, context: StepContext, on_success: Callable[[Transaction, Plan], Plan]) -> None:
        """Runs the step's tool.

        The intent is stored before it starts. Its success is stored in one
        transaction with the checkpoint after it and with what `on_success` does.

        Raises:
            ExecutionError: the tool failed; the call is recorded as failed.
            CheckpointRequiredError: no checkpoint could be made, so it was not run.
        """
        spec = self.spec(context.plan, context.step.tool)
        if spec.checkpointable:
            self._checkpoint(context, spec, Trigger.BEFORE_TOOL_EXECUTE, _unchanged)
        values = self._values(context)
        given = {name: render_value(value, values) for name, value in context.step.input.items()}
        call = self._begin(context, given)
        try:
            result = self._tools.run(
                ToolInvocation(
                    spec=spec,
                    input=given,
                    directory=context.directory,
                    resources={sandbox.resource: sandbox.path for sandbox in context.sandboxes},
                    plan_id=context.plan.id,
                )
            )
        except ExecutionError as error:
            self._fail(call, error)
            raise

        def succeed(transaction: Transaction, plan: Plan) -> Plan:
            transaction.tool_calls.save(
                call.model_copy(
                    update={
                        "status": ToolCallStatus.SUCCEEDED,
                        "output": result.output,
                        "finished_at": self._clock.now(),
                    }
                )
            )
            return on_success(transaction, plan)

        if not (
            spec.checkpointable
            and self._checkpoint(context, spec, Trigger.AFTER_TOOL_EXECUTE, succeed)
        ):
            with self._database.write() as transaction:
                transaction.plans.save(succeed(transaction, transaction.plans.get(context.plan.id)))

    def _checkpoint(
        self,
        context: StepContext,
        spec: ToolSpec,
        trigger: Trigger,
        also: Callable[[Transaction, Plan], Plan],
    ) -> bool:
        """Returns whether a checkpoint was made; one that was required and was not raises."""
        before = trigger is Trigger.BEFORE_TOOL_EXECUTE
        moment = Moment(
            CheckpointType.AUTOMATIC,
            label=f"{'before' if before else 'after'} {context.step.name}",
            reason=f"{'about to run' if before else 'ran'} {spec.name}",
            step_index=context.step_index,
            trigger=trigger,
            source_tool=spec.name,
        )
        made = self._checkpoints.auto_create_if_configured(trigger, context.plan, moment, also)
        return made is not None

    def _values(self, context: StepContext) -> Mapping[str, str]:
        """Returns what `{{ … }}` may name: arguments, sandboxes and outputs of earlier steps."""
        values = dict(context.plan.arguments)
        for sandbox in context.sandboxes:
            values[f"resources.{sandbox.resource}.path"] = sandbox.path
        steps = context.plan.definition.steps
        if not any(step.save_as for step in steps[: context.step_index]):
            return values
        with self._database.read() as transaction:
            calls = transaction.tool_calls.list(context.plan.id)
        for call in calls:
            if call.undone_by is None and call.status is ToolCallStatus.SUCCEEDED:
                saved = steps[call.step_index].save_as
                if saved is not None:
                    values[f"outputs.{saved}"] = call.output or ""
        return values

    def _begin(self, context: StepContext, given: dict[str, JsonValue]) -> ToolCall:
        canonical = json.dumps(given, sort_keys=True).encode()
        with self._database.write() as transaction:
            call = ToolCall(
                id=self._ids.new(),
                plan_id=context.plan.id,
                sequence=transaction.tool_calls.next_sequence(context.plan.id),
                step_index=context.step_index,
                tool=context.step.tool,
                resource=context.sandbox.resource,
                input=given,
                input_hash=hashlib.sha256(canonical).hexdigest(),
                status=ToolCallStatus.STARTED,
                output=None,
                error=None,
                undone_by=None,
                started_at=self._clock.now(),
                finished_at=None,
            )
            transaction.tool_calls.add(call)
        return call

    def _fail(self, call: ToolCall, error: ExecutionError) -> None:
        with self._database.write() as transaction:
            transaction.tool_calls.save(
                call.model_copy(
                    update={
                        "status": ToolCallStatus.FAILED,
                        "error": error.message,
                        "finished_at": self._clock.now(),
                    }
                )
            )


def _unchanged(_: Transaction, plan: Plan) -> Plan:
    return plan
