Feature: Wiring
  There is one place that builds services, and no service works without what it needs.

  @service
  Scenario: Every service is reached from the one place that builds
    When a program looks for the services
    Then each of them comes from the container, and always the same one
    And they are
      | service            |
      | ArtifactService    |
      | CheckpointService  |
      | ConflictService    |
      | CorrectionService  |
      | DecisionService    |
      | DoctorService      |
      | LogService         |
      | MaintenanceService |
      | OutputService      |
      | PlanApplyService   |
      | PlanExecutor       |
      | PlanResumeService  |
      | PlanService        |
      | Recovery           |
      | RetentionService   |
      | SessionService     |
      | ToolRunner         |

  @service
  Scenario: No service has an optional collaborator
    When a program looks for the services
    Then none of them can be built without a collaborator

  @service
  Scenario: Only the container builds services
    When a program looks for the services
    Then no other module of the package calls their constructors

  @service
  Scenario: What is not used is not opened
    When a program closes a container that it has not used
    Then there still is no home directory
