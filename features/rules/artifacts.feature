Feature: What a plan made of each path
  The changes of all tool calls are combined: each path is named once, with how it changed
  in all and with the calls that had a part in it, the last one first.

  Scenario Outline: <changes>
    When a plan's calls made the changes <changes>
    Then its artifacts are <artifacts>

    Examples: one call
      | changes       | artifacts                   |
      | nothing       | nothing                     |
      | a:-x          | a created file by 1         |
      | a:x-          | a deleted file by 1         |
      | a:xy          | a modified file by 1        |
      | a:xX          | a mode_changed file by 1    |
      | a:xl          | a type_changed symlink by 1 |
      | a:l-          | a deleted symlink by 1      |
      | a:d-          | a deleted directory by 1    |

    Examples: several calls
      | changes        | artifacts                                 |
      | a:-x a:xy      | a created file by 2,1                     |
      | a:xy a:yz      | a modified file by 2,1                    |
      | a:xy a:yx      | nothing                                   |
      | a:-x a:x-      | nothing                                   |
      | a:x- a:-y      | a modified file by 2,1                    |
      | a:x- a:-x      | nothing                                   |
      | a:xy a:y-      | a deleted file by 2,1                     |
      | a:xX a:Xy      | a modified file by 2,1                    |
      | a:xl a:lx      | nothing                                   |
      | b:-x a:-x b:xy | a created file by 2; b created file by 3,1 |

    Examples: directories
      | changes                    | artifacts                                              |
      | d:-d                       | d created directory by 1                               |
      | d:-d d/a:-x                | d/a created file by 2                                  |
      | d:-d d/e:-d                | d/e created directory by 2                             |
      | d:-d d/a:-x d/a:x-         | d created directory by 1                               |
      | d/a:x- d:d-                | d/a deleted file by 1                                  |
      | d:dD d/a:-x                | d mode_changed directory by 1; d/a created file by 2   |
      | d:xd d/a:-x                | d type_changed directory by 1; d/a created file by 2   |
      | d:-d d/a:xy                | d created directory by 1; d/a modified file by 2       |

    Examples: several resources and plans
      | changes         | artifacts                                          |
      | a:-x@two a:-y   | a created file by 2; two/a created file by 1       |
      | d:-d d/a:-x@two | d created directory by 1; two/d/a created file by 2 |
      | a:-x~CHILD      | a created file by 1 in CHILD                       |
      | a:-x~CHILD a:xy | a created file by 2,1                              |

  Scenario: They are counted by how they changed
    When a plan's calls made the changes a:-x b:-x c:xy d:xX e:xl f:x- g:-x g:x-
    Then it counts 6 artifacts: 2 writes, 3 edits and 1 delete
