# attention_page(OUT_VAR): sets the path of a source that holds the page of `fovea attend`, joined from
# tools/attend/page (tools/attend/page_template.h). The page itself is written next to it, for the tests.
function(attention_page out)
  set(folder ${PROJECT_SOURCE_DIR}/tools/attend/page)
  set(join ${PROJECT_SOURCE_DIR}/cmake/join_page.py)
  set(made ${PROJECT_BINARY_DIR}/attention_page)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.mjs ${folder}/page.html ${folder}/page.css)
  add_custom_command(OUTPUT ${made}.cc BYPRODUCTS ${made}.html
    COMMAND python3 ${join} ${folder} ${made}.html ${made}.cc
    DEPENDS ${sources} ${join} COMMENT "Joining the attention page" VERBATIM)
  set(${out} ${made}.cc PARENT_SCOPE)
endfunction()
